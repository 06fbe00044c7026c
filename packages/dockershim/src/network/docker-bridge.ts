import type { NetworkCapability, NetworkPlugin, PodNetworkStatus } from './network-plugin.ts';

const CAPABILITIES: ReadonlySet<NetworkCapability> = new Set<NetworkCapability>(['portMappings']);

/**
 * The `none` network plugin: Docker's own bridge. The Engine attaches a sandbox and publishes its ports when it starts, and detaches it
 * when it exits. Addresses come from inspecting the container, not from this plugin.
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

  async isSetUp(): Promise<true> {
    return true;
  }

  async status(): Promise<void> {}
}
