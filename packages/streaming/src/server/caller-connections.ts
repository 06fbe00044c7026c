import type { Socket } from 'node:net';
import { connectionName } from './connection-name.ts';

export type CallerLimits = {
  /** Total number of connections above which idle ones are closed. */
  total: number;
  /** Number of connections per caller above which the caller's idle ones are closed. */
  perCaller: number;
};

type Connection = {
  socket: Socket;
  /** User name of the authenticated caller; undefined until the connection is admitted. */
  caller: string | undefined;
  /** Number of unfinished requests on the connection. */
  uses: number;
};

/**
 * Limits the connections of authenticated callers by user name, so that no caller can lock out the others. A caller that exceeds its limit
 * loses the connection that has been idle the longest. If the overall limit is reached, the caller with the most connections loses one.
 * Connections in use are never closed. If there is no idle connection to close, a new connection is refused unless the caller has less than
 * its share, so there are never more than `2 * total` admitted connections.
 *
 * A socket argument may also be the TLS socket on top of a connection, or a node:http2 session's proxy for it.
 */
export class CallerConnections {
  readonly #limits: CallerLimits;
  readonly #connections = new Map<string, Connection>();
  /** Connections by user name, least recently used first. */
  readonly #callers = new Map<string, Set<Connection>>();
  #admitted = 0;

  constructor(limits: CallerLimits) {
    this.#limits = limits;
  }

  /** Marks a connection as in use until the returned function is called: after the response, or after the end of an upgraded connection. */
  use(socket: Socket): () => void {
    if (isClosed(socket)) return () => undefined;
    const connection = this.#connection(socket);
    connection.uses += 1;
    return () => {
      connection.uses -= 1;
    };
  }

  /** Assigns a connection to its current request's user. Returns false if there is no room for the connection. */
  admit(socket: Socket, user: string): boolean {
    if (isClosed(socket)) return true;
    const connection = this.#connection(socket);
    const isNew = connection.caller === undefined;
    this.#dismiss(connection);
    const own = this.#callers.get(user) ?? new Set();
    this.#callers.set(user, own.add(connection));
    connection.caller = user;
    this.#admitted += 1;
    const { total, perCaller } = this.#limits;
    if (own.size > perCaller) this.#closeIdle(own);
    if (!isNew || this.#admitted <= total || this.#closeIdle(this.#largest())) return true;
    if (own.size <= total / this.#callers.size) return true;
    this.#dismiss(connection);
    return false;
  }

  #connection(socket: Socket): Connection {
    const name = connectionName(socket);
    const known = this.#connections.get(name);
    if (known !== undefined) return known;
    const connection = { socket, caller: undefined, uses: 0 };
    this.#connections.set(name, connection);
    socket.once('close', () => {
      this.#dismiss(connection);
      // the client might have reused its port, in which case the entry belongs to the client's new connection
      if (this.#connections.get(name) === connection) this.#connections.delete(name);
    });
    return connection;
  }

  #largest(): Set<Connection> {
    return [...this.#callers.values()].reduce((largest, one) => (one.size > largest.size ? one : largest));
  }

  /** Closes the connection that has been idle the longest. Returns false if all of them are in use. */
  #closeIdle(connections: Set<Connection>): boolean {
    const idle = [...connections].find(({ uses }) => uses === 0);
    if (idle === undefined) return false;
    this.#dismiss(idle);
    idle.socket.destroy();
    return true;
  }

  /** Removes a connection from the set of its caller's connections. */
  #dismiss(connection: Connection): void {
    const { caller } = connection;
    if (caller === undefined) return;
    connection.caller = undefined;
    this.#admitted -= 1;
    const connections = this.#callers.get(caller)!;
    connections.delete(connection);
    if (connections.size === 0) this.#callers.delete(caller);
  }
}

/**
 * Whether a connection has been closed. Node.js no longer reports the remote address and port of a closed connection, so it has no name
 * (`connectionName`).
 */
const isClosed = ({ remotePort }: Socket): boolean => remotePort === undefined;
