import type { ImageHandlers } from '@podwright/cri';
import { toNanoseconds } from '../metadata/ids.ts';
import type { CriServices } from './services.ts';

/** ImageFsInfo: the space that images and containers' layers take; they are in one place here. */
export function imageFsInfo({ images, clock }: Pick<CriServices, 'images' | 'clock'>): ImageHandlers['imageFsInfo'] {
  return async () => {
    const { mountpoint, sizeBytes, inodes } = await images.usage();
    const usage = {
      timestamp: toNanoseconds(clock.now()),
      fsId: { mountpoint },
      usedBytes: { value: BigInt(sizeBytes) },
      inodesUsed: { value: BigInt(inodes) },
    };
    return { imageFilesystems: [usage], containerFilesystems: [usage] };
  };
}
