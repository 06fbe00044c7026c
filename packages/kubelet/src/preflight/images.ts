import {
  type FieldPath,
  type Finding,
  ObjectFindings,
  type Pod,
  type PullPolicy,
  parseImageReference,
} from '@podwright/kube-api';

/** Returns findings about a pod's images that are invalid or not on the host. `local`: full names of the images on the host, if known. */
export function missingImages(pod: Pod, local: ReadonlySet<string> | undefined): Finding[] {
  const findings = new ObjectFindings(pod);
  for (const { path, image, policy } of imagesOf(pod)) {
    const name = fullImageName(image);
    if (name === undefined) findings.problem(path, `"${image}" is not the name of an image`);
    else if (local === undefined || local.has(name)) continue;
    else if (policy === 'Never')
      findings.problem(path, `${image} is not on this host, and its pull policy Never keeps it from being pulled`);
    else findings.note(path, `${image} is not on this host yet; it will be pulled`);
  }
  return findings.list;
}

type NamedImage = { path: FieldPath; image: string; policy: PullPolicy | undefined };

/** Returns the images of a pod's containers and image volumes. */
function imagesOf({ spec }: Pod): NamedImage[] {
  const ofContainers = (['initContainers', 'containers'] as const).flatMap((field) =>
    (spec[field] ?? []).map(({ image, imagePullPolicy: policy }, index) => {
      const path: FieldPath = ['spec', field, index, 'image'];
      return { path, image, policy };
    }),
  );
  const ofVolumes = (spec.volumes ?? []).flatMap(({ image }, index) =>
    image === undefined
      ? []
      : [{ path: ['spec', 'volumes', index, 'image', 'reference'], image: image.reference, policy: image.pullPolicy }],
  );
  return [...ofContainers, ...ofVolumes];
}

/**
 * Returns the full name of an image: `docker.io/library/nginx:latest` for `nginx`. The name has no tag if the image is given by digest.
 * `undefined` if the name is invalid.
 */
export function fullImageName(image: string): string | undefined {
  const reference = parseImageReference(image);
  if (reference === undefined) return undefined;
  const { registry, repository, tag, digest } = reference;
  return `${registry}/${repository}${digest === '' ? `:${tag || 'latest'}` : `@${digest}`}`;
}
