/** A host port that is forwarded to a container port of the sandbox. If `hostIp` is '', the port is forwarded on all host addresses. */
export type PortMapping = { protocol: 'tcp' | 'udp' | 'sctp'; containerPort: number; hostPort: number; hostIp: string };

/** Input for a sandbox's network setup. Plugins receive the IDs as CNI_ARGS (K8S_POD_NAME and so on). */
export type NetworkRequest = {
  sandboxId: string;
  podName: string;
  podNamespace: string;
  podUid: string;
  netnsPath: string;
  portMappings: PortMapping[];
  /** Bandwidth limits in bits per second, from the pod's annotations. */
  bandwidth?: { ingressRate?: number; egressRate?: number };
  /** The pod's cgroup parent, which some plugins take as a capability argument. */
  cgroupParent?: string;
};

/** A sandbox's IP addresses, primary address first, and its DNS servers. */
export type NetworkResult = { ips: string[]; dnsServers: string[] };

/** Whether sandboxes can get a network at present; if not, a reason and a message for users. A ready network may also have a message. */
export type NetworkStatus =
  | { ready: true; reason?: string; message?: string }
  | { ready: false; reason: string; message: string };

/**
 * The sandboxes' network. `setUp` either succeeds or leaves nothing behind. `tearDown` is idempotent, works even if `setUp` never finished
 * or the namespace no longer exists, and always releases addresses and port mappings. A sandbox's link may be removed later, along with its
 * namespace; its addresses are not reassigned before that.
 */
export interface Network {
  /**
   * Attaches a sandbox's network namespace before its pod is known, so that `setUp` for the same ID has less to do; `tearDown` undoes it.
   * Returns false and changes nothing if the network does not support this at present. May be called again to check whether the namespace
   * is attached to the network that `setUp` would use now. Networks that never support this omit the method.
   */
  prepare?(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean>;
  setUp(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult>;
  tearDown(request: NetworkRequest, signal: AbortSignal): Promise<void>;
  /** Returns the network's status. If the signal aborts before the network replies, reports that it is not ready. */
  status(signal?: AbortSignal): Promise<NetworkStatus>;
  /** Returns the IDs of the sandboxes that still hold resources (cached results, addresses), for reconciliation. */
  list(): Promise<string[]>;
  /** Sets the pod CIDR that the kubelet has received. */
  setPodCidr(cidr: string): Promise<void>;
  /** Closes the network. With `removeHostState`, also removes the default bridge and rules from the host, and fails if sandboxes remain. */
  close(options: { removeHostState: boolean }): Promise<void>;
}
