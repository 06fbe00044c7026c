import type { Signal } from './signals.ts';
import type { Threshold } from './thresholds.ts';

/**
 * Where images and what containers write are: on the kubelet's file system (`shared`), both on another (`images`), or images on
 * another and what containers write on the kubelet's (`split`).
 */
export type DiskLayout = 'shared' | 'images' | 'split';

const SAME: Record<DiskLayout, 'nodefs' | 'imagefs'> = { shared: 'nodefs', images: 'imagefs', split: 'nodefs' };

/** Thresholds of containerfs are those of the file system that it is on, whatever was said of it (UpdateContainerFsThresholds). */
export function withContainerFs(thresholds: readonly Threshold[], layout: DiskLayout): Threshold[] {
  const same = thresholds.flatMap((one): Threshold[] => {
    const [fileSystem, what] = one.signal.split('.');
    return fileSystem === SAME[layout] ? [{ ...one, signal: `containerfs.${what}` as Signal }] : [];
  });
  return [...thresholds.filter(({ signal }) => !signal.startsWith('containerfs.')), ...same];
}
