import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { errorCode, ignoreFailure, makePrivateDirectory, PRIVATE_FILE } from '@podwright/base';
import { listenUnix, removeStaleSockets, type SocketFile } from '@podwright/host';

/**
 * Directory of the claim sockets. Owned by root, so only root can claim cgroups. Shared by all kubelets on a host, regardless of their root
 * directories.
 */
const CLAIMS_DIRECTORY = '/run/podwright-cgroups';
const SUFFIX = '.sock';

/**
 * Detects two kubelets on one host that place their pods under the same cgroup. The claim is a listening Unix socket, so it is released
 * when the kubelet process exits, even if it is killed.
 */
export class CgroupClaim {
  readonly #path: string;
  #held: { server: Server; file: SocketFile } | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(cgroup: string) {
    const name = createHash('sha256').update(cgroup).digest('hex').slice(0, 32);
    this.#path = join(CLAIMS_DIRECTORY, `${name}${SUFFIX}`);
  }

  /** Claims the cgroup unless another kubelet holds it. Every call tries again, except that concurrent calls share one attempt. */
  isOurs(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    if (this.#held !== undefined) return true;
    makePrivateDirectory(CLAIMS_DIRECTORY);
    const server = createServer((socket) => socket.destroy());
    try {
      this.#held = { server, file: await listenUnix(server, this.#path, PRIVATE_FILE) };
    } catch (error) {
      if (errorCode(error) === 'already_exists') return false;
      throw error;
    }
    server.unref();
    ignoreFailure(removeStaleSockets(CLAIMS_DIRECTORY, SUFFIX), 'the next kubelet tries again');
    return true;
  }

  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    held?.server.close();
    await held?.file.remove();
  }
}
