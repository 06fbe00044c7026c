import type { RequestOptions } from 'node:http';
import type { Authorization } from '@podwright/kube-client';

/** How to reach an API server, and with which credentials. Both implementations keep connections; `close` ends them. */
export type ApiServer = {
  /** The server's URL, or the path of a node's socket. */
  readonly name: string;
  /** The namespace that a page shows first. */
  readonly namespace: string;
  /** The part of the server's URL that precedes `/api`. */
  readonly prefix: string;
  /** Whether requests go to a Podwright node's own socket, which also has the node's paths (see `local-api.ts` of node-api). */
  readonly isNode: boolean;
  readonly authorization: Authorization;
  /** Returns the options of node:http for a new request; `own`: on a connection of its own, for streams. */
  connection(own: boolean): Promise<Connection>;
  close(): void;
};

export type Connection = { secure: boolean; options: RequestOptions };
