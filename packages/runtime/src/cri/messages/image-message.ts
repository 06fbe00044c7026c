import { type ImageSchema, type ImageSpec, LOADED_ANNOTATION, type MessageInitShape } from '@podwright/cri';
import type { ImageRecord } from '@podwright/images';

/**
 * Builds an image message for ListImages and ImageStatus. All runtime handlers share the same images, so the request's runtime handler and
 * annotations are simply echoed. A loaded image is pinned, because it might not be in any registry, in which case the kubelet could not
 * pull it again; an annotation distinguishes it from images pinned by the configuration.
 */
export function criImage(record: ImageRecord, request?: ImageSpec): MessageInitShape<typeof ImageSchema> {
  const isPinnedAsLoaded = record.isLoaded && !record.pinned;
  return {
    id: record.id,
    repoTags: record.repoTags,
    repoDigests: record.repoDigests,
    size: BigInt(record.sizeBytes),
    ...imageUser(record.config.config.User ?? ''),
    spec: {
      image: record.repoTags[0] ?? record.repoDigests[0] ?? record.id,
      annotations: { ...request?.annotations, ...(isPinnedAsLoaded ? { [LOADED_ANNOTATION]: 'true' } : {}) },
      userSpecifiedImage: request?.userSpecifiedImage ?? '',
      runtimeHandler: request?.runtimeHandler ?? '',
    },
    pinned: record.pinned || record.isLoaded,
  };
}

/** The user part of the image's `USER`, as a UID or a name. An empty name means root. */
function imageUser(user: string): { uid?: { value: bigint }; username?: string } {
  const name = user.split(':')[0] ?? '';
  return /^\d{1,10}$/.test(name) ? { uid: { value: BigInt(name) } } : { username: name };
}
