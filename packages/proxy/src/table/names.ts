import type { IpVersion, NftSet, NftType } from '@podwright/system';

/** A traffic policy: all endpoints, or only those of this node. */
export type Policy = 'cluster' | 'local';

/**
 * Names of the sets and maps for an IP family. A frontend in a key is an address, a protocol and a port at which a service port is
 * reachable.
 */
export const setNames = (version: IpVersion) =>
  ({
    /** Frontend → the chain that handles a new connection to it. */
    services: `services${version}`,
    /** Frontend and number → the endpoint with this number. */
    cluster: `cluster${version}`,
    local: `local${version}`,
    /** Frontend and number → the chain of the endpoint with this number, for session affinity. */
    stickyCluster: `sticky_cluster${version}`,
    stickyLocal: `sticky_local${version}`,
    /** Frontend → the chain that decides whether to masquerade a translated connection. */
    masquerade: `masquerade${version}`,
    /** Connections of this node's endpoints to themselves: source, destination, protocol, port. */
    hairpin: `hairpin${version}`,
    /** Cluster IPs of services. Connections to their other ports are refused. */
    clusterIps: `cluster_ips${version}`,
  }) as const;

export type SetNames = ReturnType<typeof setNames>;

/** Names of the chains that do not depend on services. */
export const CHAINS = {
  services: 'services',
  refuse: 'refuse',
  clusterIps: 'cluster_ips',
  masquerade: 'masquerade',
  masqueradeHost: 'masquerade_host',
  masqueradeStrangers: (version: IpVersion): string => `masquerade_strangers${version}`,
} as const;

const ADDRESS_TYPES: Record<IpVersion, NftType> = { 4: 'ipv4_addr', 6: 'ipv6_addr' };

/** Returns the empty sets and maps for an IP family. */
export function emptySets(version: IpVersion): NftSet[] {
  const names = setNames(version);
  const address = ADDRESS_TYPES[version];
  const frontend: NftType[] = [address, 'inet_proto', 'inet_service'];
  const numbered: NftType[] = [...frontend, 'mark'];
  return [
    { name: names.services, key: frontend, data: 'verdict', elements: [] },
    { name: names.cluster, key: numbered, data: [address, 'inet_service'], elements: [] },
    { name: names.local, key: numbered, data: [address, 'inet_service'], elements: [] },
    { name: names.stickyCluster, key: numbered, data: 'verdict', elements: [] },
    { name: names.stickyLocal, key: numbered, data: 'verdict', elements: [] },
    { name: names.masquerade, key: frontend, data: 'verdict', elements: [] },
    { name: names.hairpin, key: [address, ...frontend], elements: [] },
    { name: names.clusterIps, key: [address], elements: [] },
  ];
}

/** A dynamic set of the clients seen by an endpoint. */
export const clientSet = (version: IpVersion, name: string): NftSet => ({
  name,
  key: [ADDRESS_TYPES[version]],
  dynamicSize: MAX_CLIENTS,
  elements: [],
});

/** Number of clients that an endpoint remembers for session affinity: nft(8)'s default for sets without a size. */
const MAX_CLIENTS = 65_535;
