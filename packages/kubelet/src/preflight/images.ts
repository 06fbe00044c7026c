import type { Pod } from '../api/types.ts';
import { type Finding, ObjectFindings } from '../config/finding.ts';
import { parseImageReference } from '../images/image-reference.ts';

/** What is to be known of the images of a pod; `local` are the names of those on the host, in full, if that is known. */
export function missingImages(pod: Pod, local: ReadonlySet<string> | undefined): Finding[] {
  const findings = new ObjectFindings(pod);
  for (const field of ['initContainers', 'containers'] as const) {
    for (const [index, { image, imagePullPolicy }] of (pod.spec[field] ?? []).entries()) {
      const path = ['spec', field, index, 'image'];
      const name = fullImageName(image);
      if (name === undefined) findings.problem(path, `"${image}" is not the name of an image`);
      else if (local === undefined || local.has(name)) continue;
      else if (imagePullPolicy === 'Never')
        findings.problem(path, `${image} is not on this host, and imagePullPolicy Never keeps it from being pulled`);
      else findings.note(path, `${image} is not on this host yet; it will be pulled`);
    }
  }
  return findings.list;
}

/** `nginx` as `docker.io/library/nginx:latest`; a name with a digest has no tag. `undefined` if it is none. */
export function fullImageName(image: string): string | undefined {
  const reference = parseImageReference(image);
  if (reference === undefined) return undefined;
  const { registry, repository, tag, digest } = reference;
  return `${registry}/${repository}${digest === '' ? `:${tag || 'latest'}` : `@${digest}`}`;
}
