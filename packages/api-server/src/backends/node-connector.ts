import type { Backend } from './backend.ts';

/** The kubelet of a node. */
export type NodeKubelet = {
  /** The host and port of its HTTP API: the node's address, which the node itself has published. */
  host: string;
  port: number;
  /** Whether the kubelet runs in this process, so that no address is involved. */
  isLocal: boolean;
  /** Its HTTP API, in which this server has all rights. */
  backend(options?: KubeletBackendOptions): Backend;
};

export type KubeletBackendOptions = {
  /** The IP address to connect to, if `host` has been looked up already. */
  address?: string;
  /** Does not verify the certificate even if there is a CA for kubelets. */
  skipVerification?: boolean;
};

/** Finds the way to the kubelets of nodes, for logs, exec and other requests that the API server forwards. */
export interface NodeConnector {
  /** Throws `ApiError` if there is no such node, or if it has not published an address. */
  kubelet(nodeName: string): NodeKubelet;
}
