import { access, mkdir } from 'node:fs/promises';
import { isErrno, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import type { Volume } from '@podwright/kube-api';
import type { Mounter } from './mounter.ts';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';

/** Where mount(8) looks for the NFS mount helper. */
const HELPER = '/sbin/mount.nfs';

/** `nfs`: a directory exported by a server, mounted for each pod with the host's mount helper. */
export class NfsPlugin implements VolumePlugin {
  readonly name = 'kubernetes.io/nfs';
  readonly #mounter: Mounter;
  readonly #helper: string;

  constructor(mounter: Mounter, helper = HELPER) {
    this.#mounter = mounter;
    this.#helper = helper;
  }

  supports(volume: Volume): boolean {
    return volume.nfs !== undefined;
  }

  async setUp({ volume, directory, mountOptions = [] }: VolumeRequest, signal: AbortSignal): Promise<string> {
    const { server, path, readOnly = false } = volume.nfs!;
    if (await this.#mounter.isMountPoint(directory)) return directory;
    await this.#checkHelper();
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
    const source = `${server.includes(':') && !server.startsWith('[') ? `[${server}]` : server}:${path}`;
    const options = [...mountOptions, ...(readOnly ? ['ro'] : [])];
    await this.#mounter.mount({ type: 'nfs', source, target: directory, options }, signal);
    return directory;
  }

  async #checkHelper(): Promise<void> {
    try {
      await access(this.#helper);
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
      throw new PodwrightError(
        'failed_precondition',
        `there is no ${this.#helper} on the node: install nfs-common (Debian, Ubuntu) or nfs-utils (Fedora, RHEL, SUSE)`,
      );
    }
  }
}
