import type { Socket } from 'node:net';
import { Timer } from '@podwright/base';
import { REQUEST_TIMEOUT_MS } from '../limits.ts';
import { connectionName } from './connection-name.ts';

/**
 * Maximum number of waiting connections. Larger than the number that the kernel queues for the server (511, the default backlog of
 * node:net), so that no connection is closed before it has been read.
 */
const MAX_WAITING = 1000;

/**
 * Connections whose clients have not authenticated yet, for example with a valid token. Any user on the host can open such connections, so
 * their number and duration are bounded. If there are too many, the oldest one is closed; a connection that takes too long is closed as
 * well. Authenticated connections are neither counted nor closed.
 */
export class WaitingClients {
  readonly #waiting = new Map<string, { socket: Socket; deadline: Timer }>();
  readonly #maxMs: number;

  /** `maxMs`: milliseconds after which a connection is closed. */
  constructor(maxMs = REQUEST_TIMEOUT_MS) {
    this.#maxMs = maxMs;
  }

  /** Adds a connection that has just been accepted, before any TLS handshake. */
  add(socket: Socket): void {
    const name = connectionName(socket);
    const deadline = new Timer(() => socket.destroy(), this.#maxMs).unref();
    this.#waiting.set(name, { socket, deadline });
    socket.once('close', () => this.#forget(name, socket));
    if (this.#waiting.size > MAX_WAITING) this.#closeOldest();
  }

  /** Removes a connection whose client has authenticated. `socket` may also be the TLS socket on top of it. */
  admit(socket: Socket): void {
    this.#forget(connectionName(socket));
  }

  close(): void {
    while (this.#waiting.size > 0) this.#closeOldest();
  }

  #closeOldest(): void {
    const [oldest] = this.#waiting; // the entries are in insertion order
    if (oldest === undefined) return;
    this.#forget(oldest[0]);
    oldest[1].socket.destroy();
  }

  /**
   * Removes an entry. If `socket` is given, removes the entry only if it belongs to that connection, because the client might have reused
   * its port.
   */
  #forget(name: string, socket?: Socket): void {
    const found = this.#waiting.get(name);
    if (found === undefined || (socket !== undefined && found.socket !== socket)) return;
    found.deadline[Symbol.dispose]();
    this.#waiting.delete(name);
  }
}
