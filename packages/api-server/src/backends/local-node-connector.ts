import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Backend } from './backend.ts';
import type { NodeConnector, NodeKubelet } from './node-connector.ts';
import { socketPair } from './socket-pair.ts';

/** A kubelet running in this process. */
export type LocalKubelet = {
  nodeName: string;
  /**
   * Serves the kubelet's HTTP API on a connection, without authentication, by emitting `connection` on a node:http server that is not
   * listening. The connection implements only part of `net.Socket`, including `setTimeout`.
   */
  serve: (connection: Duplex) => void;
};

/** Reaches the kubelet in this process without a network connection, and other kubelets through another connector. */
export class LocalNodeConnector implements NodeConnector {
  readonly #local: () => LocalKubelet | undefined;
  readonly #others: NodeConnector;

  /** `local`: returns the kubelet in this process, or `undefined` while it is not serving yet. */
  constructor(local: () => LocalKubelet | undefined, others: NodeConnector) {
    this.#local = local;
    this.#others = others;
  }

  kubelet(nodeName: string): NodeKubelet {
    const local = this.#local();
    const found = this.#others.kubelet(nodeName);
    return local?.nodeName === nodeName ? { ...found, isLocal: true, backend: () => localBackend(local) } : found;
  }
}

function localBackend({ nodeName, serve }: LocalKubelet): Backend {
  return {
    scheme: 'http',
    authority: nodeName,
    request: (call) => {
      const [client, server] = socketPair();
      serve(server);
      return request({ ...call, createConnection: () => client });
    },
  };
}
