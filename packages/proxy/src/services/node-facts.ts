import { BlockList, isIP } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import type { Node } from '@podwright/kube-api';
import type { IpVersion } from '@podwright/system';

/** Facts about the node that the rules depend on. */
export type NodeFacts = {
  name: string;
  zone: string;
  /** Addresses at which node ports are served. */
  nodePortAddresses: string[];
  /** The node's own addresses, for checking whether a load balancer's source ranges include the node. */
  addresses: string[];
  /** Pod addresses: packets to a Service from elsewhere are masqueraded. Empty if unknown. */
  podCidrs: string[];
  /** CIDR blocks in which external addresses of Services are not served. */
  reservedCidrs: string[];
};

const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Reads the facts from the Node object, which is `undefined` until the node is registered. */
export function nodeFacts(name: string, node: Node | undefined): NodeFacts {
  const addresses = primaryAddresses(node);
  return {
    name,
    zone: node?.metadata.labels?.[ZONE_LABEL] ?? '',
    nodePortAddresses: addresses,
    addresses,
    podCidrs: node?.spec?.podCIDRs ?? [],
    reservedCidrs: [],
  };
}

/** Returns the first address of each IP family, preferring internal ones. */
function primaryAddresses(node: Node | undefined): string[] {
  const all = node?.status?.addresses ?? [];
  const ofType = (type: string) => all.filter((address) => address.type === type).map(({ address }) => address);
  const sorted = [...ofType('InternalIP'), ...ofType('ExternalIP')];
  return ([4, 6] as const).flatMap((version) => sorted.find((address) => isIP(address) === version) ?? []);
}

/** Returns the addresses or CIDR blocks that belong to an IP family. */
export const ofFamily = (values: readonly string[], version: IpVersion): string[] =>
  values.filter((value) => isIP(value.split('/')[0] ?? '') === version);

/** Whether a CIDR block contains an address of the same IP family. */
export function isInBlock(address: string, cidr: string): boolean {
  const [network = '', length = ''] = cidr.split('/');
  if (isIP(network) !== isIP(address)) return false;
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  const block = new BlockList();
  block.addSubnet(network, Number(length), family);
  return block.check(address, family);
}

/** Returns the interface addresses in any of the CIDR blocks, except for IPv6 link-local ones. */
export function addressesIn(
  cidrs: string[],
  interfaces: Partial<Record<string, Pick<NetworkInterfaceInfo, 'address' | 'scopeid'>[]>>,
): string[] {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  return all
    .filter(({ scopeid = 0 }) => scopeid === 0)
    .map(({ address }) => address)
    .filter((address) => cidrs.some((cidr) => isInBlock(address, cidr)));
}
