import type { Socket } from 'node:net';
import { REQUEST_TIMEOUT_MS } from '../limits.ts';

/** More than the kernel holds for us in one piece (511, the backlog of node:net), so that none goes before it was read. */
const MAX_WAITING = 1000;

/**
 * Connections whose clients have not shown who they are, such as by a valid token. Every user of the host can open them, so they are few
 * and short: one that takes too long is closed, and of too many the oldest. Those with a token are not counted, and not closed.
 */
export class WaitingClients {
  readonly #waiting = new Map<string, { socket: Socket; deadline: NodeJS.Timeout }>();

  /** Takes over a connection that has just been accepted, before any TLS. */
  add(socket: Socket): void {
    const name = nameOf(socket);
    const deadline = setTimeout(() => socket.destroy(), REQUEST_TIMEOUT_MS).unref();
    this.#waiting.set(name, { socket, deadline });
    socket.once('close', () => this.#forget(name, socket));
    if (this.#waiting.size > MAX_WAITING) this.#closeOldest();
  }

  /** The client is known. `socket` may also be the TLS socket on that connection. */
  admit(socket: Socket): void {
    this.#forget(nameOf(socket));
  }

  close(): void {
    while (this.#waiting.size > 0) this.#closeOldest();
  }

  #closeOldest(): void {
    const [oldest] = this.#waiting; // in order of insertion
    if (oldest === undefined) return;
    this.#forget(oldest[0]);
    oldest[1].socket.destroy();
  }

  /** With `socket` only if the name is still that connection's: the client may have used its port again. */
  #forget(name: string, socket?: Socket): void {
    const found = this.#waiting.get(name);
    if (found === undefined || (socket !== undefined && found.socket !== socket)) return;
    clearTimeout(found.deadline);
    this.#waiting.delete(name);
  }
}

/** Two connections to a server have not the same client's address and port at once. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
