import type { Image } from '../messages.ts';

/**
 * Annotation of an image that the runtime reports as pinned only because it was loaded from a file. Kubelets do not remove such an image;
 * users can.
 */
export const LOADED_ANNOTATION = 'podwright.dev/loaded';

/** Whether the image is pinned by the configuration, rather than only because it was loaded. */
export function isPinnedForUsers({ pinned, spec }: Pick<Image, 'pinned' | 'spec'>): boolean {
  return pinned && spec?.annotations[LOADED_ANNOTATION] === undefined;
}
