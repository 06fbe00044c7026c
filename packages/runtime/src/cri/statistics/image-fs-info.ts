import type { ImageHandlers } from '@podwright/cri';
import type { SnapshotUsage } from '@podwright/images';
import { toNanoseconds } from '../../records/ids.ts';
import type { CriServices } from '../services/services.ts';

/** ImageFsInfo: returns the disk usage of images and of containers' writable layers. Both are on the snapshotter's file system. */
export function imageFsInfo({ images, clock }: Pick<CriServices, 'images' | 'clock'>): ImageHandlers['imageFsInfo'] {
  return async () => {
    const { mountpoint, images: ofImages, containers } = await images.usage();
    const usage = ({ sizeBytes, inodes }: SnapshotUsage) => ({
      timestamp: toNanoseconds(clock.now()),
      fsId: { mountpoint },
      usedBytes: { value: BigInt(sizeBytes) },
      inodesUsed: { value: BigInt(inodes) },
    });
    return { imageFilesystems: [usage(ofImages)], containerFilesystems: [usage(containers)] };
  };
}
