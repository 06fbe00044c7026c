import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { mountFlags, parseMountOptions } from './mount-options.ts';
import { unmountOnce } from './mountinfo.ts';
import type { System } from './system.ts';

/** A mount in terms of mount(2), with `options` as in fstab(5) (`ro`, `lowerdir=…`). */
export type Mount = { type: string; source: string; options: string[] };

/** Maximum size of mount(2)'s data: the kernel copies a single page, which ends in a NUL byte. */
const MAX_DATA_BYTES = 4095;

/** Mounts all of `mounts` on top of each other at `target`. On failure, unmounts those already mounted. */
export function mountAll(system: System, mounts: Mount[], target: string): void {
  let made = 0;
  try {
    for (const mount of mounts) {
      mountOne(system, mount, target);
      made++;
    }
  } catch (error) {
    while (made-- > 0) unmountOnce(system, target);
    throw error;
  }
}

/**
 * Like `mountAll`, but mounts a single overlay on a libuv pool thread: the kernel creates and removes half a dozen files in the work
 * directory, which takes several milliseconds on a busy disk.
 */
export async function mountAllAsync(system: System, mounts: Mount[], target: string): Promise<void> {
  const [mount, ...others] = mounts;
  if (mount?.type !== 'overlay' || others.length > 0) return mountAll(system, mounts, target);
  const { flags, propagation, data } = parseMountOptions(mount.options);
  const text = data.join(',');
  // Oversized options require a change of working directory, which is only possible on the main thread.
  if (propagation.length > 0 || Buffer.byteLength(text) > MAX_DATA_BYTES) return mountAll(system, mounts, target);
  removeVolatileMarker(mount);
  await system.mountAsync(target, { source: mount.source, type: mount.type, flags, data: text });
}

function mountOne(system: System, mount: Mount, target: string): void {
  const { flags, propagation, data } = parseMountOptions(mount.options);
  const { bind, remount, recursive } = mountFlags;
  if ((flags & bind) !== 0 && (flags & remount) === 0) {
    system.mount(target, { source: mount.source, flags: flags & (bind | recursive) });
    finish(() => {
      // when creating a bind mount, the kernel ignores all other flags; they take effect only in a remount
      if ((flags & ~(bind | recursive)) !== 0) system.mount(target, { flags: (flags & ~recursive) | remount });
    });
  } else {
    removeVolatileMarker(mount);
    withData(mount, data, (text) =>
      system.mount(target, { source: mount.source, type: mount.type, flags, data: text }),
    );
  }
  finish(() => {
    for (const change of propagation) system.mount(target, { flags: change });
  });

  function finish(step: () => void): void {
    try {
      step();
    } catch (error) {
      unmountOnce(system, target);
      throw error;
    }
  }
}

/**
 * Calls `use` with the options as a single string. If an overlay's lower directories do not fit into a page, makes them relative to their
 * common directory and changes to that directory during the call: 400 layers then take about 3 kB. Other code is not affected, since `use`
 * is synchronous and nothing else uses relative paths.
 */
function withData(mount: Mount, data: string[], use: (text: string) => void): void {
  const text = data.join(',');
  if (Buffer.byteLength(text) <= MAX_DATA_BYTES) {
    use(text);
    return;
  }
  const prefix = 'lowerdir=';
  const index = data.findIndex((option) => option.startsWith(prefix));
  const lower = data[index]?.slice(prefix.length).split(':') ?? [];
  const directory = commonDirectory(lower);
  if (mount.type !== 'overlay' || directory === '/') throw tooLong(mount, text);
  const short = lower.map((path) => path.slice(directory.length + 1));
  const shorter = data.with(index, prefix + short.join(':')).join(',');
  if (Buffer.byteLength(shorter) > MAX_DATA_BYTES) throw tooLong(mount, shorter);
  const before = process.cwd();
  process.chdir(directory);
  try {
    use(shorter);
  } finally {
    process.chdir(before);
  }
}

/**
 * Removes the marker that a `volatile` mount leaves in the work directory. Otherwise, the kernel refuses to mount with that work directory
 * again.
 */
function removeVolatileMarker({ type, options }: Mount): void {
  const work = options.find((option) => option.startsWith('workdir='))?.slice('workdir='.length);
  if (type !== 'overlay' || work === undefined || !options.includes('volatile')) return;
  rmSync(join(work, 'work', 'incompat'), { recursive: true, force: true });
}

/** Returns the deepest directory that contains all of these absolute paths. */
export function commonDirectory(paths: string[]): string {
  let directory = dirname(paths[0] ?? '/');
  while (directory !== '/' && !paths.every((path) => path.startsWith(`${directory}/`))) directory = dirname(directory);
  return directory;
}

function tooLong(mount: Mount, text: string): PodwrightError {
  return new PodwrightError(
    'invalid_argument',
    `mount ${mount.type}: its options take ${Buffer.byteLength(text)} bytes, the kernel accepts ${MAX_DATA_BYTES}; the image has too many layers`,
  );
}
