import type { RequestOptions } from 'node:http';
import type { Authorization } from '@podwright/kube-client';

/** How to reach an API server, including credentials. Implementations keep connections open until `close` is called. */
export type ApiServer = {
  /** The server's URL or the path of a node's socket. */
  readonly name: string;
  /** The namespace of the kubeconfig's context. Default: `default`. */
  readonly namespace: string;
  /** The path in the server's URL, to be prepended to `/api`. Usually ''. */
  readonly prefix: string;
  /**
   * Whether requests go to a Podwright node's own socket, which additionally serves node-specific paths (see `local-api.ts` in node-api).
   */
  readonly isNode: boolean;
  readonly authorization: Authorization;
  /** Returns the connection for a new request. A `dedicated` connection, as required by streams, is not reused for other requests. */
  connection(dedicated: boolean): Promise<Connection>;
  close(): void;
};

/** Whether to use TLS, and the options for node:http or node:https. */
export type Connection = { secure: boolean; options: RequestOptions };
