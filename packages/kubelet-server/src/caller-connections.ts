import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Refusal, refusal } from './api-route.ts';
import type { HttpListener } from './http/http-listener.ts';
import { MAX_CONNECTIONS } from './http/limits.ts';
import { MAX_CALLER_CONNECTIONS } from './limits.ts';

type Limits = { total: number; perCaller: number };

/**
 * Limits the connections of authenticated callers by user name, so that no caller locks out the others. A caller that exceeds its limit
 * loses the connection that has been idle the longest. If the overall limit is reached, the caller with the most connections loses one.
 * Connections in use (with an unfinished response, or upgraded) are never closed. If there is no idle connection to close, a new connection
 * is refused unless the caller has less than its share.
 */
export class CallerConnections {
  readonly #limits: Limits;
  /** Connections by user name, least recently used first. */
  readonly #callers = new Map<string, Set<Socket>>();
  readonly #users = new Map<Socket, string>();
  readonly #inUse = new WeakMap<Socket, ServerResponse | 'upgraded'>();

  constructor(limits: Limits = { total: MAX_CONNECTIONS, perCaller: MAX_CALLER_CONNECTIONS }) {
    this.#limits = limits;
  }

  /** Forwards requests to `listener`, and records which connections are in use. */
  observed(listener: HttpListener): HttpListener {
    return {
      upgrades: (request) => listener.upgrades(request),
      handle: (request, response) => {
        const { socket } = request;
        this.#inUse.set(socket, response);
        response.once('close', () => {
          if (this.#inUse.get(socket) === response) this.#inUse.delete(socket); // keep the entry if the next request has begun
        });
        listener.handle(request, response);
      },
      upgrade: (request, socket, head) => {
        this.#inUse.set(request.socket, 'upgraded');
        listener.upgrade(request, socket, head);
      },
    };
  }

  /** Assigns a connection to its current request's user. Returns a refusal if there is no room for the connection. */
  admit(socket: Socket, user: string): Refusal | undefined {
    const isNew = !this.#users.has(socket);
    if (isNew) socket.once('close', () => this.#remove(socket));
    this.#remove(socket);
    const own = this.#callers.get(user) ?? new Set();
    this.#callers.set(user, own.add(socket));
    this.#users.set(socket, user);
    const { total, perCaller } = this.#limits;
    if (own.size > perCaller) this.#closeIdle(own);
    if (!isNew || this.#users.size <= total || this.#closeIdle(this.#largest())) return undefined;
    if (own.size <= total / this.#callers.size) return undefined;
    this.#remove(socket);
    return refusal(429, 'too many connections of this user are in use');
  }

  #largest(): Set<Socket> {
    return [...this.#callers.values()].reduce((largest, one) => (one.size > largest.size ? one : largest));
  }

  /** Closes the connection that has been idle the longest. Returns false if all of them are in use. */
  #closeIdle(connections: Set<Socket>): boolean {
    const idle = [...connections].find((socket) => !this.#inUse.has(socket));
    if (idle === undefined) return false;
    this.#remove(idle);
    idle.destroy();
    return true;
  }

  #remove(socket: Socket): void {
    const user = this.#users.get(socket);
    if (user === undefined) return;
    this.#users.delete(socket);
    const connections = this.#callers.get(user)!;
    connections.delete(socket);
    if (connections.size === 0) this.#callers.delete(user);
  }
}
