import type { ImageSchema, MessageInitShape } from '@podwright/cri';
import type { ImageRecord } from '../images/image-service.ts';

/** An image as ListImages and ImageStatus show it. */
export function criImage(record: ImageRecord): MessageInitShape<typeof ImageSchema> {
  return {
    id: record.id,
    repoTags: record.repoTags,
    repoDigests: record.repoDigests,
    size: BigInt(record.sizeBytes),
    ...imageUser(record.config.config.User ?? ''),
    spec: { image: record.repoTags[0] ?? record.repoDigests[0] ?? record.id },
    pinned: record.pinned,
  };
}

/** The user part of `USER` as a number or as a name; root where the image says nothing. */
export function imageUser(user: string): { uid?: { value: bigint }; username?: string } {
  const name = user.split(':')[0] ?? '';
  if (name === '') return { uid: { value: 0n } };
  return /^\d{1,10}$/.test(name) ? { uid: { value: BigInt(name) } } : { username: name };
}
