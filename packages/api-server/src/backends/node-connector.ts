import type { Backend } from './backend.ts';

/** A node's kubelet. */
export type NodeKubelet = {
  /** Host and port of the kubelet's HTTP API. The host is an address published by the node itself, so it cannot be trusted. */
  host: string;
  port: number;
  /** Whether the kubelet runs in this process, in which case the address is not used. */
  isLocal: boolean;
  /** The kubelet's HTTP API, to which this server has full access. */
  backend(options?: KubeletBackendOptions): Backend;
};

export type KubeletBackendOptions = {
  /** The kubelet's IP address, if `host` has already been resolved. */
  address?: string;
  /** Skips certificate verification even if there is a CA for kubelets. */
  skipVerification?: boolean;
};

/** Provides access to nodes' kubelets for logs, exec and other requests forwarded by the API server. */
export interface NodeConnector {
  /** Throws `ApiError` if the node does not exist or has not published an address. */
  kubelet(nodeName: string): NodeKubelet;
}
