import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { isErrno } from '@podwright/base';

/**
 * Tells kubelets on a host that have their pods below the same cgroup of each other. The claim is a name among the kernel's abstract
 * unix sockets (unix(7)), so it ends with its process, however that ends.
 */
export class CgroupClaim {
  readonly #name: string;
  #server: Server | undefined;

  constructor(path: string) {
    this.#name = `\0podwright-cgroups:${path}`;
  }

  /** Whether these cgroups are ours alone; asked again, it is tried again. */
  async isOurs(): Promise<boolean> {
    if (this.#server !== undefined) return true;
    const server = createServer((socket) => socket.destroy());
    try {
      server.listen(this.#name);
      await once(server, 'listening');
    } catch (error) {
      if (isErrno(error, 'EADDRINUSE')) return false;
      throw error;
    }
    server.unref();
    this.#server = server;
    return true;
  }

  release(): void {
    this.#server?.close();
    this.#server = undefined;
  }
}
