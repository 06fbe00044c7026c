import type { ImageSchema, ImageSpec, MessageInitShape } from '@podwright/cri';
import type { ImageRecord } from '@podwright/images';

/**
 * An image as ListImages and ImageStatus show it. All runtime handlers have the same images, so an answer about an image of
 * one handler, or with annotations, says what it was asked for.
 */
export function criImage(record: ImageRecord, asked?: ImageSpec): MessageInitShape<typeof ImageSchema> {
  return {
    id: record.id,
    repoTags: record.repoTags,
    repoDigests: record.repoDigests,
    size: BigInt(record.sizeBytes),
    ...imageUser(record.config.config.User ?? ''),
    spec: {
      image: record.repoTags[0] ?? record.repoDigests[0] ?? record.id,
      annotations: asked?.annotations ?? {},
      userSpecifiedImage: asked?.userSpecifiedImage ?? '',
      runtimeHandler: asked?.runtimeHandler ?? '',
    },
    pinned: record.pinned,
  };
}

/** The user part of `USER` as a number or as a name; neither where the image says nothing, which means root. */
function imageUser(user: string): { uid?: { value: bigint }; username?: string } {
  const name = user.split(':')[0] ?? '';
  return /^\d{1,10}$/.test(name) ? { uid: { value: BigInt(name) } } : { username: name };
}
