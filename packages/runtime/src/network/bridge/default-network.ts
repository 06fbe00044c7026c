import { type NetworkList, parseNetworkList } from '@podwright/cni';
import type { Subnet } from './subnet.ts';

/** The bridge network that is used while the host has no configuration of its own. */
export type DefaultNetwork = {
  bridge: string;
  subnets: Subnet[];
  /** Where `host-local` keeps its addresses, a directory a network. */
  addressDirectory: string;
};

export const defaultNetworkName = (bridge: string): string => `podwright-${bridge}`;

/**
 * The default network as a CNI list. `ipMasq` is off since one rule masks the whole subnet (`HostRules`), where the plugin
 * would run iptables several times a pod. `portmap` and `bandwidth` are only there for pods that need them: an idle run of
 * each costs 5 ms. The version is one that every release of the plugins since 2018 speaks, so that none has to be asked.
 */
export function defaultNetworkList(
  network: DefaultNetwork,
  wanted: { portMappings: boolean; bandwidth: boolean },
): NetworkList {
  const plugins: object[] = [bridgePlugin(network)];
  if (wanted.portMappings) plugins.push({ type: 'portmap', snat: true, capabilities: { portMappings: true } });
  if (wanted.bandwidth) plugins.push({ type: 'bandwidth', capabilities: { bandwidth: true } });
  return parseNetworkList(JSON.stringify({ cniVersion: '0.4.0', name: defaultNetworkName(network.bridge), plugins }));
}

function bridgePlugin({ bridge, subnets, addressDirectory }: DefaultNetwork): object {
  return {
    type: 'bridge',
    bridge,
    isGateway: true,
    // A bridge that was left with another subnet's address is taken over instead of failing each pod.
    forceAddress: true,
    hairpinMode: true,
    ipMasq: false,
    ipam: {
      type: 'host-local',
      dataDir: addressDirectory,
      ranges: subnets.map(({ cidr }) => [{ subnet: cidr }]),
      routes: subnets.map(({ family }) => ({ dst: family === 4 ? '0.0.0.0/0' : '::/0' })),
    },
  };
}
