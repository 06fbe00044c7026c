import type { RequestOptions } from 'node:http';
import type { Authorization } from '@podwright/kube-client';

/** How to reach an API server, and with which credentials. Implementations keep connections, which `close` ends. */
export type ApiServer = {
  /** The server's URL, or the path of a node's socket. */
  readonly name: string;
  /** The namespace of the kubeconfig's context, or `default`. */
  readonly namespace: string;
  /** The path of the server's URL, which precedes `/api`; '' for most servers. */
  readonly prefix: string;
  /** Whether requests go to a Podwright node's own socket, which also has the node's paths (see `local-api.ts` of node-api). */
  readonly isNode: boolean;
  readonly authorization: Authorization;
  /** Returns the connection for a new request. A `dedicated` one is not shared with later requests; streams need it. */
  connection(dedicated: boolean): Promise<Connection>;
  close(): void;
};

/** Whether to use TLS, and the options of node:http or node:https. */
export type Connection = { secure: boolean; options: RequestOptions };
