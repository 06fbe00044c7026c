import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { errorCode, listenUnix, makePrivateDirectory, PRIVATE_FILE, type SocketFile } from '@podwright/base';

/** Root's alone, as nobody else may make a claim; the same for all kubelets of a host, wherever they have their files. */
const CLAIMS_DIRECTORY = '/run/podwright-cgroups';

/**
 * Tells kubelets on a host that have their pods below the same cgroup of each other. The claim is a socket that its kubelet answers on,
 * so it ends with its process, however that ends.
 */
export class CgroupClaim {
  readonly #path: string;
  #held: { server: Server; file: SocketFile } | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(cgroup: string) {
    const name = createHash('sha256').update(cgroup).digest('hex').slice(0, 32);
    this.#path = join(CLAIMS_DIRECTORY, `${name}.sock`);
  }

  /** Whether these cgroups are ours alone; asked again, it is tried again. Who asks meanwhile has the same answer. */
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
    return true;
  }

  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    held?.server.close();
    await held?.file.remove();
  }
}
