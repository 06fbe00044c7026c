import type { DNSConfig, PortMapping } from '@podwright/cri';

/** How a pod can reach itself through the address of its service (the kubelet's `hairpinMode`). */
export type HairpinMode = 'hairpin-veth' | 'promiscuous-bridge' | 'none';

/** Optional features of a plugin. `shaping` limits the bandwidth by the pod's annotations. */
export type NetworkCapability = 'shaping' | 'portMappings' | 'ipRanges' | 'dns';

/** Identity of a pod, and of the sandbox whose network namespace is attached. */
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

/** Addresses of a pod; the first is the primary one. */
export type PodNetworkStatus = { ips: string[] };

/** A change of the node's configuration. */
export type NetworkEvent = { name: 'POD_CIDR_CHANGE'; podCidr: string };

/** Settings of the node, passed to `init`. An `mtu` of 0 means the plugin's default. */
export type NetworkPluginSettings = { hairpinMode: HairpinMode; nonMasqueradeCidr: string; mtu: number };

/**
 * The network of pods on a Docker Engine, modelled on the kubelet's former network plugins. Calls for the same pod are serialized.
 * `tearDownPod` may be called any number of times, even if `setUpPod` never finished or the namespace no longer exists.
 */
export interface NetworkPlugin {
  /** `cni`, or `none` for Docker's own bridge. */
  readonly name: string;
  /** The network mode with which the Engine creates sandboxes: `none` if the plugin attaches them itself, otherwise Docker's default. */
  readonly dockerNetworkMode: string;
  capabilities(): ReadonlySet<NetworkCapability>;
  init(settings: NetworkPluginSettings): Promise<void>;
  event(event: NetworkEvent): Promise<void>;
  setUpPod(setup: NetworkSetup, signal: AbortSignal): Promise<PodNetworkStatus>;
  tearDownPod(
    setup: Omit<NetworkSetup, 'netnsPath' | 'annotations'> & { netnsPath?: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** `undefined` if the pod has no network, or if its namespace no longer exists. */
  podNetworkStatus(pod: NetworkPod, netnsPath: string | undefined): Promise<PodNetworkStatus | undefined>;
  /** Throws an error with a message for users if pods cannot be set up now. */
  status(signal?: AbortSignal): Promise<void>;
}
