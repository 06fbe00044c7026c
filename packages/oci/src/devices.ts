import type { Stats } from 'node:fs';
import type { OciDevice } from './spec.ts';

/** Returns the device that a device node refers to; `undefined` for any other file. */
export function deviceOf(stats: Stats, path: string): OciDevice | undefined {
  if (!stats.isCharacterDevice() && !stats.isBlockDevice()) return undefined;
  const type = stats.isBlockDevice() ? 'b' : 'c';
  const { uid, gid } = stats;
  return { path, type, ...deviceNumbers(stats.rdev), fileMode: stats.mode & 0o7777, uid, gid };
}

/** Returns the major and minor numbers from a device ID as packed by the C library (makedev(3)). */
export function deviceNumbers(rdev: number): { major: number; minor: number } {
  const packed = BigInt(rdev);
  const major = ((packed >> 8n) & 0xfffn) | ((packed >> 32n) & ~0xfffn);
  const minor = (packed & 0xffn) | ((packed >> 12n) & 0xffffff00n);
  return { major: Number(major), minor: Number(minor) };
}
