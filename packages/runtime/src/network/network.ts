/** A port of the host that leads to one of the sandbox. `hostIp` '' means every address. */
export type PortMapping = { protocol: 'tcp' | 'udp' | 'sctp'; containerPort: number; hostPort: number; hostIp: string };

/** What a sandbox's network is set up from; the ids reach the plugins as CNI_ARGS (K8S_POD_NAME and so on). */
export type NetworkRequest = {
  sandboxId: string;
  podName: string;
  podNamespace: string;
  podUid: string;
  netnsPath: string;
  portMappings: PortMapping[];
  /** Bits a second, from the pod's bandwidth annotations. */
  bandwidth?: { ingressRate?: number; egressRate?: number };
  /** The pod's cgroup parent, a capability that some plugins ask for. */
  cgroupParent?: string;
};

/** Addresses that the plugins gave, the primary one first. */
export type NetworkResult = { ips: string[]; dnsServers: string[] };

/** Whether sandboxes can get a network now, and if not, why, for people. One that is ready may have something to report all the same. */
export type NetworkStatus =
  | { ready: true; reason?: string; message?: string }
  | { ready: false; reason: string; message: string };

/**
 * The sandboxes' network. `setUp` either succeeds or leaves nothing; `tearDown` may be called any number of times,
 * also when `setUp` never finished or the namespace is gone, and gives back addresses and port mappings always. A sandbox's
 * link may end later, with its namespace; its addresses are no other's before that.
 */
export interface Network {
  /**
   * Attaches a sandbox's network namespace before anything is known of its pod, so that `setUp` for the same id has less left
   * to do; `tearDown` undoes it. False, with nothing done, where the network cannot do that ahead. Absent: it never can. May be
   * called again: it then says whether the namespace is attached to what `setUp` would attach it to now.
   */
  prepare?(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean>;
  setUp(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult>;
  tearDown(request: NetworkRequest, signal: AbortSignal): Promise<void>;
  /** A network that has not answered when the signal aborts is not ready. */
  status(signal?: AbortSignal): Promise<NetworkStatus>;
  /** Sandbox ids that still hold anything (cached results, addresses), for reconciliation. */
  list(): Promise<string[]>;
  /** The kubelet's pod CIDR, for configurations that are written from a template. */
  setPodCidr(cidr: string): Promise<void>;
  /** Removes what the network made for itself on the host (default bridge, rules); only without sandboxes. */
  close(options: { removeHostState: boolean }): Promise<void>;
}
