import type { DNSConfig, PortMapping } from '@podwright/cri';

/** How a pod reaches itself by the address of a service that leads to it. */
export type HairpinMode = 'hairpin-veth' | 'promiscuous-bridge' | 'none';

/** What a plugin can do beside setting pods up. `shaping`: it limits bandwidth by the pod's annotations. */
export type NetworkCapability = 'shaping' | 'portMappings' | 'ipRanges' | 'dns';

/** A pod to the network: the sandbox is the container whose namespace is attached. */
export type NetworkPod = { namespace: string; name: string; uid: string; sandboxId: string };

/** What a pod is set up with. `netnsPath` is the sandbox's network namespace. */
export type NetworkSetup = {
  pod: NetworkPod;
  netnsPath: string;
  annotations: Record<string, string>;
  portMappings: PortMapping[];
  dns?: DNSConfig;
  cgroupParent?: string;
};

/** Addresses of a pod, the primary one first. */
export type PodNetworkStatus = { ips: string[] };

/** An event that a plugin may act on. */
export type NetworkEvent = { name: 'POD_CIDR_CHANGE'; podCidr: string };

/** What a plugin is told of the host before anything else. `mtu` 0 leaves it to the plugin. */
export type NetworkPluginSettings = { hairpinMode: HairpinMode; nonMasqueradeCidr: string; mtu: number };

/**
 * The network of pods on a Docker Engine, as the kubelet's network plugins were. Calls for one pod run one after the other.
 * `tearDownPod` may be called any number of times, also when `setUpPod` never ended or the namespace is gone.
 */
export interface NetworkPlugin {
  /** `cni`, or `none` for Docker's own bridge. */
  readonly name: string;
  /** The network mode that the Engine gives sandboxes: `none` where the plugin attaches them itself, else Docker's own. */
  readonly dockerNetworkMode: string;
  capabilities(): ReadonlySet<NetworkCapability>;
  init(settings: NetworkPluginSettings): Promise<void>;
  event(event: NetworkEvent): Promise<void>;
  setUpPod(setup: NetworkSetup, signal: AbortSignal): Promise<PodNetworkStatus>;
  tearDownPod(
    setup: Omit<NetworkSetup, 'netnsPath' | 'annotations'> & { netnsPath?: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Nothing where the pod has no network, or its namespace is gone. */
  podNetworkStatus(pod: NetworkPod, netnsPath: string | undefined): Promise<PodNetworkStatus | undefined>;
  /** Throws why pods cannot be set up now, for people. */
  status(signal?: AbortSignal): Promise<void>;
}
