import { BlockList, isIP } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import type { Node } from '@podwright/kube-api';
import type { ServiceObject } from './objects.ts';

/** Loopback, link-local, multicast, broadcast and unspecified addresses. The API server's validation rejects most of them. */
const SPECIAL_CIDRS = [
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32'],
  ...['::/128', '::1/128', 'fe80::/10', 'ff00::/8'],
];

export type ReservedInput = {
  /** The cluster IP ranges. */
  serviceCidrs: string[];
  podCidrs: string[];
  node: Node | undefined;
  interfaces: Partial<Record<string, Pick<NetworkInterfaceInfo, 'address'>[]>>;
};

/** Returns the CIDR blocks of addresses that belong to the cluster or the node, which Services may not have as external addresses. */
export function reservedCidrs({ serviceCidrs, podCidrs, node, interfaces }: ReservedInput): string[] {
  const own = [
    ...(node?.status?.addresses ?? []).map(({ address }) => address),
    ...Object.values(interfaces).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
  ];
  const hosts = own.filter((address) => isIP(address) !== 0).map((address) => `${address}/${bitsOf(address)}`);
  return [...SPECIAL_CIDRS, ...serviceCidrs, ...podCidrs, ...new Set(hosts)];
}

export type ReservedAddresses = {
  cidrs: string[];
  /**
   * Node addresses that load balancers may have. If the status lists ports, only these are served: the controller that writes the status
   * checks that no program uses them, whereas users can change the ports in the spec at any time.
   */
  balanced: string[];
};

/**
 * Returns the Service without its reserved external and load balancer addresses, which are returned as `refused`. The status field `ports`
 * is kept only for addresses of the node; other addresses are served for all ports, as by kube-proxy.
 */
export function withoutReserved(
  service: ServiceObject,
  { cidrs, balanced }: ReservedAddresses,
): { service: ServiceObject; refused: string[] } {
  const { spec = {}, status } = service;
  const [external, ingress] = [spec.externalIPs ?? [], status?.loadBalancer?.ingress ?? []];
  if (cidrs.length === 0 || external.length + ingress.length === 0) return { service, refused: [] };
  const reserved = blocksOf(cidrs);
  const isReserved = (ip: string) => isIP(ip) !== 0 && reserved.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4');
  const isRefused = (ip: string) => isReserved(ip) && !balanced.includes(ip);
  const refused = [...external.filter(isReserved), ...ingress.map(({ ip = '' }) => ip).filter(isRefused)];
  const externalIPs = external.filter((ip) => !isReserved(ip));
  const kept = ingress.filter(({ ip = '' }) => !isRefused(ip));
  const loadBalancer = {
    ingress: kept.map((one) => (isReserved(one.ip ?? '') ? one : { ...one, ports: undefined })),
  };
  return { service: { ...service, spec: { ...spec, externalIPs }, status: { ...status, loadBalancer } }, refused };
}

function blocksOf(cidrs: string[]): BlockList {
  const blocks = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', length = ''] = cidr.split('/');
    blocks.addSubnet(network, Number(length), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  }
  return blocks;
}

const bitsOf = (address: string): number => (isIP(address) === 6 ? 128 : 32);
