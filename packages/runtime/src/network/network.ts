/** A host port that is forwarded to a container port of the sandbox. `hostIp` '' means every host address. */
export type PortMapping = { protocol: 'tcp' | 'udp' | 'sctp'; containerPort: number; hostPort: number; hostIp: string };

/** Input for a sandbox's network setup; plugins receive the ids as CNI_ARGS (K8S_POD_NAME and so on). */
export type NetworkRequest = {
  sandboxId: string;
  podName: string;
  podNamespace: string;
  podUid: string;
  netnsPath: string;
  portMappings: PortMapping[];
  /** In bits per second, from the pod's bandwidth annotations. */
  bandwidth?: { ingressRate?: number; egressRate?: number };
  /** The pod's cgroup parent, a capability argument of some plugins. */
  cgroupParent?: string;
};

/** The addresses of a sandbox, the primary one first. */
export type NetworkResult = { ips: string[]; dnsServers: string[] };

/** Whether sandboxes can get a network now, and if not, a reason and a message for users. A ready network may also have a message. */
export type NetworkStatus =
  | { ready: true; reason?: string; message?: string }
  | { ready: false; reason: string; message: string };

/**
 * The sandboxes' network. `setUp` either succeeds or leaves nothing behind. `tearDown` is idempotent, works even if `setUp` never finished
 * or the namespace no longer exists, and always releases addresses and port mappings. A sandbox's link may go away later, with its
 * namespace; its addresses are not reassigned before that.
 */
export interface Network {
  /**
   * Attaches a sandbox's network namespace before its pod is known, so that `setUp` for the same id has less to do; `tearDown` undoes it.
   * Returns false, with nothing changed, if the network does not support this now. May be called again, to check whether the namespace is
   * attached to the network that `setUp` would use now. Networks that never support this omit the method.
   */
  prepare?(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean>;
  setUp(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult>;
  tearDown(request: NetworkRequest, signal: AbortSignal): Promise<void>;
  /** Reports that the network is not ready if the signal aborts before it replies. */
  status(signal?: AbortSignal): Promise<NetworkStatus>;
  /** Ids of the sandboxes that still hold resources (cached results, addresses), for reconciliation. */
  list(): Promise<string[]>;
  /** Sets the pod CIDR that the kubelet received. */
  setPodCidr(cidr: string): Promise<void>;
  /** Closes the network. `removeHostState` also removes the default bridge and rules from the host, and fails if sandboxes remain. */
  close(options: { removeHostState: boolean }): Promise<void>;
}
