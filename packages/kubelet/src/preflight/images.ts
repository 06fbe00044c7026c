import {
  type FieldPath,
  type Finding,
  ObjectFindings,
  type Pod,
  type PullPolicy,
  parseImageReference,
} from '@podwright/kube-api';

/** What is to be known of the images of a pod; `local` are the names of those on the host, in full, if that is known. */
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

/** Of containers and of volumes. */
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

/** `nginx` as `docker.io/library/nginx:latest`; a name with a digest has no tag. `undefined` if it is none. */
export function fullImageName(image: string): string | undefined {
  const reference = parseImageReference(image);
  if (reference === undefined) return undefined;
  const { registry, repository, tag, digest } = reference;
  return `${registry}/${repository}${digest === '' ? `:${tag || 'latest'}` : `@${digest}`}`;
}
