import type { Logger } from '@podwright/base';
import { CniPlugin, type CniPluginOptions } from './cni-plugin.ts';
import { DockerBridge } from './docker-bridge.ts';
import type { NetworkPlugin, NetworkPluginSettings } from './network-plugin.ts';

/** Creates and initializes the network plugin of the options. */
export async function openNetworkPlugin({
  network,
  logger,
}: {
  network: { plugin: 'cni' | 'none' } & CniPluginOptions['network'] & NetworkPluginSettings;
  logger: Logger;
}): Promise<NetworkPlugin> {
  const plugin = network.plugin === 'cni' ? new CniPlugin({ network, logger }) : new DockerBridge();
  await plugin.init(network);
  return plugin;
}
