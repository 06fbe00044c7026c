import type { Image } from '@podwright/cri';
import type { NodeImage } from '@podwright/kube-api';

/** Names of an image in a node's status at most (upstream's MaxNamesPerImageInNodeStatus). */
const MAX_NAMES = 5;

type ListedImage = Pick<Image, 'id' | 'repoDigests' | 'repoTags' | 'size'>;

/** The largest images, names with digests first; `most` of them, or all with -1. */
export function nodeImages(images: readonly ListedImage[], most: number): NodeImage[] {
  const largest = images.toSorted(bySize).slice(0, most < 0 ? undefined : most);
  return largest.map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES),
    ...(size === 0n ? {} : { sizeBytes: Number(size) }),
  }));
}

function bySize(one: ListedImage, other: ListedImage): number {
  if (one.size !== other.size) return one.size > other.size ? -1 : 1;
  return one.id > other.id ? -1 : 1;
}
