import type { Signal } from './signals.ts';
import type { Threshold } from './thresholds.ts';

/**
 * Where images and writable container layers are stored: both on the kubelet's file system (`shared`), both on another file system
 * (`images`), or only the images on another file system (`split`).
 */
export type DiskLayout = 'shared' | 'images' | 'split';

const SAME: Record<DiskLayout, 'nodefs' | 'imagefs'> = { shared: 'nodefs', images: 'imagefs', split: 'nodefs' };

/**
 * Replaces the containerfs thresholds, even configured ones, with those of the file system that containerfs is on
 * (UpdateContainerFsThresholds).
 */
export function withContainerFs(thresholds: readonly Threshold[], layout: DiskLayout): Threshold[] {
  const same = thresholds.flatMap((one): Threshold[] => {
    const [fileSystem, what] = one.signal.split('.');
    return fileSystem === SAME[layout] ? [{ ...one, signal: `containerfs.${what}` as Signal }] : [];
  });
  return [...thresholds.filter(({ signal }) => !signal.startsWith('containerfs.')), ...same];
}
