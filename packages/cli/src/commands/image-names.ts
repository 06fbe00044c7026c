import type { Container, Image } from '@podwright/cri';

/** Number of digest digits to show; enough to identify an image. */
const SHOWN_DIGITS = 13;

/** Returns the short form of an image ID `sha256:…`. */
export function shortId(id: string): string {
  return id.replace(/^sha256:/, '').slice(0, SHOWN_DIGITS);
}

/** Returns an image's names: its tags or, if there are none, the repository with a short digest or the ID. */
export function namesOf({ id, repoTags, repoDigests }: Pick<Image, 'id' | 'repoTags' | 'repoDigests'>): string[] {
  if (repoTags.length > 0) return repoTags;
  const [repository, digest] = repoDigests[0]?.split('@') ?? [];
  return [digest === undefined ? shortId(id) : `${repository}@sha256:${shortId(digest)}`];
}

/** Whether `reference` is this image's ID, or a prefix of it with at least 8 digits. */
export function isIdOf({ id, repoTags }: Pick<Image, 'id' | 'repoTags'>, reference: string): boolean {
  const digits = reference.replace(/^sha256:/, '');
  const named = repoTags.some(
    (tag) =>
      tag
        .replace(/:[^:/]*$/, '')
        .split('/')
        .at(-1) === reference,
  );
  return digits.length >= 8 && id.startsWith(`sha256:${digits}`) && !named; // a name takes precedence over a short id
}

/** Returns the pods with containers that use an image, as `namespace/name`. */
export function podsUsing(imageId: string, containers: Pick<Container, 'imageId' | 'labels'>[]): string[] {
  const own = containers.filter((container) => container.imageId === imageId);
  const pods = own.map(({ labels }) => `${labels['io.kubernetes.pod.namespace']}/${labels['io.kubernetes.pod.name']}`);
  return [...new Set(pods)];
}
