import type { NetworkCapability, NetworkPlugin, PodNetworkStatus } from './network-plugin.ts';

const CAPABILITIES: ReadonlySet<NetworkCapability> = new Set<NetworkCapability>(['portMappings']);

/**
 * Docker's own bridge: the Engine attaches a sandbox when it starts it, with its ports, and detaches it when it ends. Its
 * addresses are those of the container's inspection, so that nothing is known of them here.
 */
export class DockerBridge implements NetworkPlugin {
  readonly name = 'none';
  readonly dockerNetworkMode = 'default';

  capabilities(): ReadonlySet<NetworkCapability> {
    return CAPABILITIES;
  }

  async init(): Promise<void> {}

  async event(): Promise<void> {}

  async setUpPod(): Promise<PodNetworkStatus> {
    return { ips: [] };
  }

  async tearDownPod(): Promise<void> {}

  async podNetworkStatus(): Promise<undefined> {
    return undefined;
  }

  async status(): Promise<void> {}
}
