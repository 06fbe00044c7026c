import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that counts the bytes between clients and a server. */
export class ByteCounter {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #bytes = 0;

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(target.port), target.hostname);
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.setNoDelay(true);
        socket.on('data', ({ length }) => {
          this.#bytes += length;
        });
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
      }
      client.pipe(server).pipe(client);
    });
  }

  static async start(target: URL): Promise<ByteCounter> {
    const counter = new ByteCounter(target);
    counter.#server.listen(0, '127.0.0.1');
    await once(counter.#server, 'listening');
    return counter;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Bytes transferred so far in both directions, counted on the encrypted stream. */
  get bytes(): number {
    return this.#bytes;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
