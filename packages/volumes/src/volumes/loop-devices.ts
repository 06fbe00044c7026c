import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { MOUNT_TIMEOUT_MS } from './limits.ts';

/** Keeps devices busy: as long as a loop device is attached to a device, the kernel does not reuse its name for another device. */
export interface LoopDevices {
  /** Returns the path of the loop device attached to a file, attaching one if necessary. */
  attach(path: string): Promise<string>;
  /** Detaches the loop device from a file, if any. */
  detach(path: string): Promise<void>;
}

/** Manages loop devices with losetup(8) and sysfs. */
export class ProgramLoopDevices implements LoopDevices {
  async attach(path: string): Promise<string> {
    const known = await this.#find(path);
    if (known !== undefined) return known;
    await losetup(['-f', path]);
    const made = await this.#find(path);
    if (made === undefined) throw new PodwrightError('internal', `losetup made no loop device for ${path}`);
    return made;
  }

  async detach(path: string): Promise<void> {
    const device = await this.#find(path);
    if (device === undefined) return;
    await losetup(['-d', device]).catch(async (error: unknown) => {
      if (await exists(device)) throw error;
    });
  }

  async #find(path: string): Promise<string | undefined> {
    const real = await realpath(path).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    });
    if (real === undefined) return undefined;
    const blocks = (await readdir('/sys/block')).filter((name) => name.startsWith('loop'));
    const backed = blocks.map(async (name) => {
      const file = await readFile(join('/sys/block', name, 'loop/backing_file'), 'utf8').catch(() => '');
      return [path, real].includes(file.trimEnd().replace(/ \(deleted\)$/, '')) ? `/dev/${name}` : undefined;
    });
    return (await Promise.all(backed)).find((device) => device !== undefined);
  }
}

async function losetup(args: string[]): Promise<void> {
  await runChecked('losetup', args, { signal: AbortSignal.timeout(MOUNT_TIMEOUT_MS) });
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
