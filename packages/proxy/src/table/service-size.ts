import type { NodeFacts } from '../services/node-facts.ts';
import { ofFamily } from '../services/node-facts.ts';
import type { EndpointSlice } from '../services/objects.ts';
import { policiesOf, type ServicePort } from '../services/service-port.ts';

/**
 * Maximum number of elements and rules for one Service; `MAX_TABLE_SIZE` is the limit for all Services together. 100,000 elements take
 * about 100 MB and, in the kernel, less than a second.
 */
export const MAX_SERVICE_SIZE = 20_000;
export const MAX_TABLE_SIZE = 200_000;
/**
 * The size that an endpoint with session affinity counts as: its set and its chain cost the kernel more time than elements do, and the cost
 * of each grows with their number.
 */
const STICKY_SIZE = 80;

/** A Service's EndpointSlices by port, each reduced to that port. */
export type SlicesByPort = ReadonlyMap<string, EndpointSlice[]>;

/** Returns the EndpointSlices that have any of the ports, by `portId`. Reads each slice only once, because slices may have many ports. */
export function slicesByPort(slices: Iterable<EndpointSlice>, ports: readonly ServicePort[]): SlicesByPort {
  const found = new Map(ports.map((port): [string, EndpointSlice[]] => [portId(port), []]));
  for (const slice of slices)
    for (const port of slice.ports ?? []) {
      const id = `${slice.addressType} ${port.protocol ?? 'TCP'} ${port.name ?? ''}`;
      found.get(id)?.push({ ...slice, ports: [port] });
    }
  return found;
}

/** Identifies a port of a Service, as its slices do. */
export const portId = ({ version, protocol, portName }: ServicePort): string => `IPv${version} ${protocol} ${portName}`;

/**
 * Returns an upper bound for the elements and rules that a Service needs, without creating any. Stops counting above `MAX_SERVICE_SIZE`.
 */
export function serviceSize(
  ports: readonly ServicePort[],
  slices: Iterable<EndpointSlice>,
  { nodePortAddresses }: NodeFacts,
): number {
  if (ports.length > MAX_SERVICE_SIZE) return ports.length;
  const byPort = slicesByPort(slices, ports);
  let size = 0;
  for (const port of ports) {
    const { externalIps, loadBalancerIps, sourceRanges, version } = port;
    const endpoints = (byPort.get(portId(port)) ?? []).reduce((sum, one) => sum + (one.endpoints ?? []).length, 0);
    const nodePorts = port.nodePort === undefined ? 0 : ofFamily(nodePortAddresses, version).length;
    const frontends = 1 + externalIps.length + loadBalancerIps.length + nodePorts;
    const policies = Object.values(policiesOf(port)).filter((isUsed) => isUsed).length;
    const guards = loadBalancerIps.length === 0 ? 0 : sourceRanges.length + loadBalancerIps.length;
    size += frontends * (2 + policies * endpoints) + 1 + endpoints + guards;
    if (port.affinityMs !== undefined) size += STICKY_SIZE * endpoints;
    if (size > MAX_SERVICE_SIZE) return size;
  }
  return size;
}

/**
 * Returns the Services, by `NAMESPACE/NAME`, that get no rules: those above `MAX_SERVICE_SIZE` and, as long as the rest exceeds
 * `MAX_TABLE_SIZE`, the largest one of the namespace that needs the most.
 */
export function oversized(sizes: ReadonlyMap<string, number>): Set<string> {
  const refused = new Set<string>();
  const namespaces = new Map<string, { sum: number; services: [string, number][] }>();
  let total = 0;
  for (const [key, size] of sizes) {
    if (size > MAX_SERVICE_SIZE) {
      refused.add(key);
      continue;
    }
    const name = key.slice(0, key.indexOf('/'));
    const namespace = namespaces.get(name) ?? { sum: 0, services: [] };
    namespace.sum += size;
    namespace.services.push([key, size]);
    namespaces.set(name, namespace);
    total += size;
  }
  if (total <= MAX_TABLE_SIZE) return refused;
  for (const { services } of namespaces.values()) services.sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
  while (total > MAX_TABLE_SIZE) {
    const most = [...namespaces.values()].reduce((a, b) => (b.sum > a.sum ? b : a));
    const [key, size] = most.services.pop()!;
    refused.add(key);
    most.sum -= size;
    total -= size;
  }
  return refused;
}
