import type { Signal } from './signals.ts';
import type { Threshold } from './thresholds.ts';

/**
 * The file systems of images and writable container layers: both on the kubelet's (`shared`), both on another (`images`), or images
 * on another and layers on the kubelet's (`split`).
 */
export type DiskLayout = 'shared' | 'images' | 'split';

const SAME: Record<DiskLayout, 'nodefs' | 'imagefs'> = { shared: 'nodefs', images: 'imagefs', split: 'nodefs' };

/** Sets the thresholds of containerfs to those of its file system, and ignores configured ones (UpdateContainerFsThresholds). */
export function withContainerFs(thresholds: readonly Threshold[], layout: DiskLayout): Threshold[] {
  const same = thresholds.flatMap((one): Threshold[] => {
    const [fileSystem, what] = one.signal.split('.');
    return fileSystem === SAME[layout] ? [{ ...one, signal: `containerfs.${what}` as Signal }] : [];
  });
  return [...thresholds.filter(({ signal }) => !signal.startsWith('containerfs.')), ...same];
}
