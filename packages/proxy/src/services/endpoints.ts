import { isIP } from 'node:net';
import type { IpVersion } from '@podwright/system';
import type { NodeFacts } from './node-facts.ts';
import type { EndpointSlice, SliceEndpoint } from './objects.ts';

/** An endpoint of a service port. */
export type Endpoint = {
  address: string;
  port: number;
  isReady: boolean;
  isServing: boolean;
  isTerminating: boolean;
  isLocal: boolean;
  zones: string[];
  nodes: string[];
};

/** The endpoints used by each traffic policy, and whether the service has a usable endpoint on any node. */
export type ChosenEndpoints = { cluster: Endpoint[]; local: Endpoint[]; hasAny: boolean };

/** A Service's port, as named by its EndpointSlices. */
export type PortOfSlices = { version: IpVersion; portName: string; protocol: string };

/**
 * Returns a service port's endpoints of one IP family. Duplicate addresses are dropped: a pod may have the address of another pod that has
 * not been removed yet.
 */
export function endpointsOf(slices: Iterable<EndpointSlice>, wanted: PortOfSlices, nodeName: string): Endpoint[] {
  const found = new Map<string, Endpoint>();
  for (const slice of slices) {
    if (slice.addressType !== `IPv${wanted.version}`) continue;
    for (const { name = '', protocol = 'TCP', port } of slice.ports ?? []) {
      if (port === undefined || name !== wanted.portName || protocol !== wanted.protocol) continue;
      for (const endpoint of slice.endpoints ?? [])
        addEndpoint(found, decodeEndpoint(endpoint, port, nodeName), wanted);
    }
  }
  return [...found.values()];
}

function addEndpoint(found: Map<string, Endpoint>, endpoint: Endpoint, { version }: PortOfSlices): void {
  if (isIP(endpoint.address) !== version) return;
  const key = endpointKey(endpoint);
  const known = found.get(key);
  if (known === undefined || rankOf(endpoint) > rankOf(known)) found.set(key, endpoint);
}

/** Returns an endpoint's rank: ready endpoints rank highest, then serving ones, then those on this node. */
const rankOf = ({ isReady, isServing, isLocal }: Endpoint): number =>
  Number(isReady) * 4 + Number(isServing) * 2 + Number(isLocal);

/** Decodes an endpoint. Only its first address counts, because the API deprecates any others. Unset conditions mean ready and serving. */
function decodeEndpoint(endpoint: SliceEndpoint, port: number, nodeName: string): Endpoint {
  const { conditions = {}, hints } = endpoint;
  return {
    address: endpoint.addresses[0] ?? '',
    port,
    isReady: conditions.ready ?? true,
    isServing: conditions.serving ?? true,
    isTerminating: conditions.terminating ?? false,
    isLocal: endpoint.nodeName === nodeName,
    zones: (hints?.forZones ?? []).map(({ name }) => name),
    nodes: (hints?.forNodes ?? []).map(({ name }) => name),
  };
}

/** Identifies an endpoint of a service port. */
export const endpointKey = ({ address, port }: { address: string; port: number }): string => `${address} ${port}`;

/**
 * Chooses each traffic policy's endpoints: the ready ones or, if there are none, those still serving while they terminate. Topology hints
 * apply only to the Cluster policy, and only if every ready endpoint has hints and at least one of them names this node or its zone.
 */
export function chooseEndpoints(
  endpoints: Endpoint[],
  uses: { cluster: boolean; local: boolean },
  node: Pick<NodeFacts, 'name' | 'zone'>,
): ChosenEndpoints {
  const ready = endpoints.filter(({ isReady }) => isReady);
  const ending = endpoints.filter(({ isServing, isTerminating }) => isServing && isTerminating);
  const localReady = ready.filter(({ isLocal }) => isLocal);
  const localEnding = ending.filter(({ isReady, isLocal }) => isLocal && !isReady);
  const cluster = ready.length > 0 ? ready.filter(hinted(ready, node)) : ending;
  const local = localReady.length > 0 ? localReady : localEnding;
  return {
    cluster: uses.cluster ? cluster : [],
    local: uses.local ? local : [],
    hasAny: ready.length + ending.length > 0,
  };
}

function hinted(ready: Endpoint[], { name, zone }: Pick<NodeFacts, 'name' | 'zone'>): (endpoint: Endpoint) => boolean {
  const select = (field: 'nodes' | 'zones', value: string) =>
    ready.every((endpoint) => endpoint[field].length > 0) && ready.some((endpoint) => endpoint[field].includes(value));
  if (select('nodes', name)) return ({ nodes }) => nodes.includes(name);
  if (zone !== '' && select('zones', zone)) return ({ zones }) => zones.includes(zone);
  return () => true;
}
