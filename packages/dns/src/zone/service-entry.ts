import { addressBytes } from '../wire/addresses.ts';
import { isName } from '../wire/names.ts';
import type { DnsEndpoint, DnsEndpointSlice, DnsService } from './api-objects.ts';
import type { EndpointRecord, PortRecord, ServiceEntry } from './cluster-records.ts';

/** Returns what is known of a service and its slices. Texts that cannot be in a message are left out. Pure. */
export function serviceEntry({ spec = {} }: DnsService, slices: Iterable<DnsEndpointSlice>): ServiceEntry {
  const ports = (spec.ports ?? []).map(({ name = '', protocol = 'TCP', port }) => ({ name, protocol, port }));
  if (spec.type === 'ExternalName')
    return { ...NO_ADDRESSES, externalName: aliasTarget(spec.externalName), ports, found: new Map() };
  const addresses = clusterAddresses(spec);
  return {
    addresses,
    isHeadless: spec.clusterIP === 'None',
    externalName: undefined,
    ports,
    endpoints: [...slices].flatMap(readyEndpoints),
    found: new Map(),
  };
}

const NO_ADDRESSES = { addresses: [], isHeadless: false, endpoints: [] };

/** Returns a service's cluster IPs; none if it is headless. */
export function clusterAddresses({ clusterIP = '', clusterIPs }: NonNullable<DnsService['spec']>): string[] {
  return (clusterIPs ?? [clusterIP]).filter(isAddress);
}

/** An address is no alias: a CNAME record holds a name. CoreDNS ignores such services too. */
function aliasTarget(externalName = ''): string | undefined {
  const target = externalName.replace(/\.$/, '').toLowerCase();
  return target !== '' && isName(target) && !isAddress(target) ? target : undefined;
}

/** Returns the endpoints that take traffic. An endpoint without the condition counts as ready, as the API says. */
export function readyEndpoints({ endpoints, ports, addressType }: DnsEndpointSlice): EndpointRecord[] {
  if (addressType === 'FQDN') return [];
  const portRecords = (ports ?? []).map(
    ({ name, protocol, port }): PortRecord => ({
      name: name ?? '',
      protocol: protocol ?? 'TCP',
      port: port ?? undefined,
    }),
  );
  return (endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap((endpoint) =>
      endpoint.addresses
        .filter(isAddress)
        .map((address) => ({ label: endpointLabel(endpoint, address), address, ports: portRecords })),
    );
}

/** The host name of an endpoint, or else its address with dashes, which CoreDNS ends with a digit. */
function endpointLabel({ hostname }: DnsEndpoint, address: string): string {
  if (typeof hostname === 'string' && hostname !== '') return hostname.toLowerCase();
  const label = address.replaceAll(/[.:]/g, '-');
  return label.endsWith('-') ? `${label}0` : label;
}

const isAddress = (text: string): boolean => addressBytes(text) !== undefined;
