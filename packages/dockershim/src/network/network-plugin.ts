import type { DNSConfig, PortMapping } from '@podwright/cri';

/** How a pod can reach itself through its Service's address (the kubelet's `hairpinMode`). */
export type HairpinMode = 'hairpin-veth' | 'promiscuous-bridge' | 'none';

/** Optional features of a network plugin. `shaping` limits the bandwidth according to the pod's annotations. */
export type NetworkCapability = 'shaping' | 'portMappings' | 'ipRanges' | 'dns';

/** Identifies a pod, and the sandbox whose network namespace is attached. */
export type NetworkPod = { namespace: string; name: string; uid: string; sandboxId: string };

/** Parameters for setting up a pod's network. `netnsPath` is the sandbox's network namespace. */
export type NetworkSetup = {
  pod: NetworkPod;
  netnsPath: string;
  annotations: Record<string, string>;
  portMappings: PortMapping[];
  dns?: DNSConfig;
  cgroupParent?: string;
};

/** The addresses of a pod. The first is the primary one. */
export type PodNetworkStatus = { ips: string[] };

/** A change in the node's network configuration. */
export type NetworkEvent = { name: 'POD_CIDR_CHANGE'; podCidr: string };

/** The node's settings passed to `init`. An `mtu` of 0 means the plugin's default. */
export type NetworkPluginSettings = { hairpinMode: HairpinMode; nonMasqueradeCidr: string; mtu: number };

/**
 * Sets up pod networks on a Docker Engine, modeled on the kubelet's former network plugins. Calls for the same pod are serialized.
 * `tearDownPod` may be called repeatedly, even if `setUpPod` never finished or the network namespace no longer exists.
 */
export interface NetworkPlugin {
  /** `cni`, or `none` for Docker's own bridge. */
  readonly name: string;
  /** The Engine's network mode for sandboxes: `none` if the plugin attaches them itself, otherwise Docker's default. */
  readonly dockerNetworkMode: string;
  capabilities(): ReadonlySet<NetworkCapability>;
  init(settings: NetworkPluginSettings): Promise<void>;
  event(event: NetworkEvent): Promise<void>;
  setUpPod(setup: NetworkSetup, signal: AbortSignal): Promise<PodNetworkStatus>;
  tearDownPod(
    setup: Omit<NetworkSetup, 'netnsPath' | 'annotations'> & { netnsPath?: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Resolves to `undefined` if the pod has no network or its network namespace no longer exists. */
  podNetworkStatus(pod: NetworkPod, netnsPath: string | undefined): Promise<PodNetworkStatus | undefined>;
  /**
   * Whether `setUpPod` has completed for a pod. If the plugin cannot read its record of the pod, the pod counts as set up if its interface
   * has an address. `netnsPath` is called only then; it resolves to `undefined` if there is no network namespace.
   */
  isSetUp(pod: NetworkPod, netnsPath: () => Promise<string | undefined>): Promise<boolean>;
  /** Throws a user-facing error if pods cannot be set up at the moment. */
  status(signal?: AbortSignal): Promise<void>;
}
