import type { NetworkCapability, NetworkPlugin, PodNetworkStatus } from './network-plugin.ts';

const CAPABILITIES: ReadonlySet<NetworkCapability> = new Set<NetworkCapability>(['portMappings']);

/**
 * Docker's own bridge: the Engine attaches a sandbox at its start, with its ports, and detaches it at its exit. The addresses are taken
 * from the container's inspection, not from here.
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
