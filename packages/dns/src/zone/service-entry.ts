import { addressBytes } from '../wire/addresses.ts';
import { isName } from '../wire/names.ts';
import type { DnsEndpoint, DnsEndpointSlice, DnsService } from './api-objects.ts';
import type { EndpointGroup, EndpointRecord, PortRecord, ServiceEntry } from './cluster-records.ts';

/**
 * Maximum number of endpoints of a service that get names. At most `MAX_PORTS` ports of the service are used, and as many of its slices.
 * The services of a node stay below these limits; a larger object would make each change to it expensive.
 */
const MAX_ENDPOINTS = 10_000;
const MAX_PORTS = 4096;

/**
 * Builds the entry for a service from its object and the ready endpoints of its slices. Text that cannot be encoded in a message is
 * omitted. Pure.
 */
export function serviceEntry({ spec = {} }: DnsService, slices: Iterable<SliceEndpoints>): ServiceEntry {
  const isAlias = spec.type === 'ExternalName';
  const own = (spec.ports ?? [])
    .slice(0, MAX_PORTS)
    .map(({ name = '', protocol = 'TCP', port }): PortRecord => ({ name, protocol, port }));
  const bounded = isAlias ? [] : boundedSlices(slices);
  const groups = bounded.map(({ endpoints, ports }) => ({ endpoints, numbers: numbersOf(ports) }));
  return {
    addresses: isAlias ? [] : clusterAddresses(spec),
    isHeadless: !isAlias && spec.clusterIP === 'None',
    externalName: isAlias ? aliasTarget(spec.externalName) : undefined,
    numbers: numbersOf(own),
    namedPorts: numbersByLabels(own),
    protocols: protocolLabels([{ ports: own }, ...bounded]),
    groups,
    labels: groupsByLabel(groups),
    portGroups: groupsByPort(bounded),
    found: new Map(),
  };
}

/** The ready endpoints and the ports of an EndpointSlice. */
export type SliceEndpoints = { endpoints: readonly EndpointRecord[]; ports: readonly PortRecord[] };

function boundedSlices(slices: Iterable<SliceEndpoints>): SliceEndpoints[] {
  const bounded: SliceEndpoints[] = [];
  let [endpointsLeft, portsLeft] = [MAX_ENDPOINTS, MAX_PORTS];
  for (const slice of slices) {
    const endpoints = slice.endpoints.slice(0, endpointsLeft);
    if (endpoints.length === 0) continue;
    const ports = slice.ports.slice(0, portsLeft);
    bounded.push({ endpoints, ports });
    endpointsLeft -= endpoints.length;
    portsLeft -= ports.length;
  }
  return bounded;
}

const numbersOf = (ports: readonly PortRecord[]): number[] => [...new Set(ports.flatMap(({ port }) => port ?? []))];

/** Returns the numbers of named ports. Unnamed ports have no DNS name (section 2.3.2 of the specification). */
function numbersByLabels(ports: readonly PortRecord[]): Map<string, readonly number[]> {
  const found = new Map<string, Set<number>>();
  for (const { name, protocol, port } of ports) {
    if (name === '' || port === undefined) continue;
    const labels = portLabels(`_${name}`, protocolLabel(protocol));
    found.set(labels, (found.get(labels) ?? new Set()).add(port));
  }
  return new Map([...found].map(([labels, numbers]) => [labels, [...numbers]]));
}

function protocolLabels(owners: readonly { ports: readonly PortRecord[] }[]): Set<string> {
  const named = owners.flatMap(({ ports }) => ports.filter(({ name }) => name !== ''));
  return new Set(named.map(({ protocol }) => protocolLabel(protocol)));
}

function groupsByLabel(groups: readonly EndpointGroup[]): Map<string, EndpointGroup[]> {
  const found = new Map<string, EndpointGroup[]>();
  for (const { endpoints, numbers } of groups)
    for (const endpoint of endpoints) addTo(found, endpoint.label, { endpoints: [endpoint], numbers });
  return found;
}

function groupsByPort(slices: readonly SliceEndpoints[]): Map<string, EndpointGroup[]> {
  const found = new Map<string, EndpointGroup[]>();
  for (const { endpoints, ports } of slices)
    for (const [labels, numbers] of numbersByLabels(ports)) addTo(found, labels, { endpoints, numbers });
  return found;
}

function addTo(groups: Map<string, EndpointGroup[]>, key: string, group: EndpointGroup): void {
  const known = groups.get(key);
  if (known === undefined) groups.set(key, [group]);
  else known.push(group);
}

const protocolLabel = (protocol: string): string => `_${protocol.toLowerCase()}`;

/** Returns the key for a port's labels, such as `_http` and `_tcp`. */
export const portLabels = (name: string, protocol: string): string => `${name}.${protocol}`;

/** Returns a service's cluster IPs; none if it is headless. */
export function clusterAddresses({ clusterIP = '', clusterIPs }: NonNullable<DnsService['spec']>): string[] {
  return (clusterIPs ?? [clusterIP]).filter(isAddress);
}

/**
 * Returns the target of a service's alias. It cannot be an address, because a CNAME record contains a name. CoreDNS ignores such services
 * too.
 */
function aliasTarget(externalName = ''): string | undefined {
  const target = externalName.replace(/\.$/, '').toLowerCase();
  return target !== '' && isName(target) && !isAddress(target) ? target : undefined;
}

/** Returns the endpoints that can receive traffic. As specified by the API, an endpoint without a `ready` condition counts as ready. */
export function readyEndpoints({ endpoints, ports, addressType }: DnsEndpointSlice): SliceEndpoints {
  if (addressType === 'FQDN') return { endpoints: [], ports: [] };
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  return {
    endpoints: ready.flatMap((endpoint) =>
      endpoint.addresses.filter(isAddress).map((address) => ({ label: endpointLabel(endpoint, address), address })),
    ),
    ports: (ports ?? []).slice(0, MAX_PORTS).map(({ name, protocol, port }) => ({
      name: name ?? '',
      protocol: protocol ?? 'TCP',
      port: port ?? undefined,
    })),
  };
}

/** Returns an endpoint's hostname or, if it has none, its address with dashes, with a digit appended if needed, as in CoreDNS. */
function endpointLabel({ hostname }: DnsEndpoint, address: string): string {
  if (typeof hostname === 'string' && hostname !== '') return hostname.toLowerCase();
  const label = address.replaceAll(/[.:]/g, '-');
  return label.endsWith('-') ? `${label}0` : label;
}

const isAddress = (text: string): boolean => addressBytes(text) !== undefined;
