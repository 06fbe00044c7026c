/** A host port forwarded to a container port of the sandbox. If `hostIp` is '', it is forwarded on all host addresses. */
export type PortMapping = { protocol: 'tcp' | 'udp' | 'sctp'; containerPort: number; hostPort: number; hostIp: string };

/** Input for setting up a sandbox's network. Plugins receive the IDs as CNI_ARGS (K8S_POD_NAME and so on). */
export type NetworkRequest = {
  sandboxId: string;
  podName: string;
  podNamespace: string;
  podUid: string;
  netnsPath: string;
  portMappings: PortMapping[];
  /** Bandwidth limits in bits per second, from the pod's annotations. */
  bandwidth?: { ingressRate?: number; egressRate?: number };
  /** The pod's cgroup parent, passed to plugins that have a capability for it. */
  cgroupParent?: string;
};

/** A sandbox's IP addresses, primary address first, and its DNS servers. */
export type NetworkResult = { ips: string[]; dnsServers: string[] };

/** Whether sandboxes can currently get a network; if not, a reason and a user-facing message. A ready network may have a message too. */
export type NetworkStatus =
  | { ready: true; reason?: string; message?: string }
  | { ready: false; reason: string; message: string };

/**
 * The sandboxes' network. `setUp` either succeeds or leaves nothing behind. `tearDown` is idempotent, works even if `setUp` never finished
 * or the namespace no longer exists, and always releases addresses and port mappings. A sandbox's link can be removed later, along with its
 * namespace; its addresses are not reassigned before that.
 */
export interface Network {
  /**
   * Attaches a sandbox's network namespace before its pod is known, so that a later `setUp` for the same ID has less to do; `tearDown`
   * undoes it. Returns false and changes nothing if the network currently does not support this. May be called again to check whether the
   * namespace is attached to the network that `setUp` would now use. Omitted by networks that never support this.
   */
  prepare?(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean>;
  setUp(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult>;
  tearDown(request: NetworkRequest, signal: AbortSignal): Promise<void>;
  /** Returns the network's status: not ready if the signal aborts before the network replies. */
  status(signal?: AbortSignal): Promise<NetworkStatus>;
  /** Returns the IDs of the sandboxes that still hold resources (cached results, addresses), for reconciliation. */
  list(): Promise<string[]>;
  /** Sets the pod CIDR received by the kubelet. */
  setPodCidr(cidr: string): Promise<void>;
  /**
   * Closes the network. If `removeHostState` is set, also removes the default bridge and rules from the host, and fails if there are still
   * sandboxes.
   */
  close(options: { removeHostState: boolean }): Promise<void>;
}
