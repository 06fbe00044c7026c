import { isIPv4, isIPv6 } from 'node:net';
import { labelsOf } from '../wire/names.ts';
import type { ClusterRecords, EndpointRecord, PortRecord, ServiceEntry } from './cluster-records.ts';

/** Where an SRV record points: a name below the domain, and its addresses. */
export type ServiceTarget = { relative: string; addresses: readonly string[]; port: number };

/**
 * What a name of the cluster has. `branch`: no record, but names below it exist. `service`: SRV records only. `addresses` has also SRV
 * records for services and endpoints, which are found by `targets`.
 */
export type FoundName =
  | { kind: 'apex' | 'version' | 'branch' }
  | { kind: 'addresses'; addresses: readonly string[]; targets: readonly ServiceTarget[] }
  | { kind: 'alias'; target: string }
  | { kind: 'service'; targets: readonly ServiceTarget[] };

const BRANCH: FoundName = { kind: 'branch' };

/** Finds a lower-case name that is the cluster's domain or below it. Returns `undefined` if it does not exist. */
export function findName(name: string, records: ClusterRecords): FoundName | undefined {
  const labels = labelsOf(name.slice(0, Math.max(0, name.length - records.domain.length - 1)));
  const [kind, namespace, ...rest] = labels.reverse();
  if (kind === undefined) return { kind: 'apex' };
  if (kind === 'dns-version' && namespace === undefined) return { kind: 'version' };
  if (kind === 'dns') return serverName(namespace, rest, records);
  if (kind !== 'svc' && kind !== 'pod') return undefined;
  if (namespace === undefined) return BRANCH;
  if (!records.hasNamespace(namespace)) return undefined;
  const [first] = rest;
  if (first === undefined) return BRANCH;
  if (kind === 'pod') return rest.length === 1 ? podName(first) : undefined;
  return serviceName(rest, namespace, records);
}

/** `ns.dns` is the name of the server in the SOA record. */
function serverName(
  label: string | undefined,
  rest: readonly string[],
  records: ClusterRecords,
): FoundName | undefined {
  if (label === undefined) return BRANCH;
  if (label !== 'ns' || rest.length > 0) return undefined;
  return { kind: 'addresses', addresses: records.serverAddresses, targets: [] };
}

/** A pod's name is its address with dashes. Whether there is a pod with this address is not checked (`pods insecure` of CoreDNS). */
function podName(label: string): FoundName | undefined {
  const isIPv4Label = label.split('-').length === 4 && !label.includes('--');
  const address = label.replaceAll('-', isIPv4Label ? '.' : ':');
  if (!isIPv4(address) && !isIPv6(address)) return undefined;
  return { kind: 'addresses', addresses: [address], targets: [] };
}

/** `labels`: the service's, then those below it, in reverse order of the name. */
function serviceName(labels: readonly string[], namespace: string, records: ClusterRecords): FoundName | undefined {
  const [name = '', first, second, ...more] = labels;
  const service = records.service(namespace, name);
  if (service === undefined || more.length > 0) return undefined;
  const at = { service, relative: `${name}.${namespace}.svc` };
  if (service.externalName !== undefined)
    return first === undefined ? { kind: 'alias', target: service.externalName } : undefined;
  if (second !== undefined) return portName(at, { protocol: first ?? '', port: second });
  if (first?.startsWith('_')) return protocolName(service, first);
  if (first !== undefined) return endpointName(at, first);
  if (service.isHeadless) return endpointsName(at, service.endpoints);
  return {
    kind: 'addresses',
    addresses: service.addresses,
    targets: targetsOf(at.relative, service.addresses, service.ports),
  };
}

type ServicePlace = { service: ServiceEntry; relative: string };

function endpointName({ service, relative }: ServicePlace, label: string): FoundName | undefined {
  const matching = service.endpoints.filter((endpoint) => endpoint.label === label);
  return endpointsName({ service, relative }, matching);
}

/** As in CoreDNS, a headless service without ready endpoints has no name. */
function endpointsName({ relative }: ServicePlace, endpoints: readonly EndpointRecord[]): FoundName | undefined {
  if (endpoints.length === 0) return undefined;
  const addresses = [...new Set(endpoints.map(({ address }) => address))];
  return { kind: 'addresses', addresses, targets: endpointTargets(relative, endpoints, () => true) };
}

/** A name like `_tcp.web.default.svc` has no record, but exists if a port does below it. */
function protocolName(service: ServiceEntry, label: string): FoundName | undefined {
  const ports = [...service.ports, ...service.endpoints.flatMap(({ ports }) => ports)];
  return ports.some((port) => port.name !== '' && protocolLabel(port) === label) ? BRANCH : undefined;
}

/** A name like `_http._tcp.web.default.svc`: only named ports have one (section 2.3.2 of the specification). */
function portName(
  { service, relative }: ServicePlace,
  labels: { protocol: string; port: string },
): FoundName | undefined {
  const isWanted = (port: PortRecord) =>
    port.name !== '' && `_${port.name}` === labels.port && protocolLabel(port) === labels.protocol;
  const targets = service.isHeadless
    ? endpointTargets(relative, service.endpoints, isWanted)
    : targetsOf(relative, service.addresses, service.ports.filter(isWanted));
  return targets.length > 0 ? { kind: 'service', targets } : undefined;
}

const protocolLabel = ({ protocol }: PortRecord): string => `_${protocol.toLowerCase()}`;

function endpointTargets(
  relative: string,
  endpoints: readonly EndpointRecord[],
  isWanted: (port: PortRecord) => boolean,
): ServiceTarget[] {
  return endpoints.flatMap(({ label, address, ports }) =>
    targetsOf(`${label}.${relative}`, [address], ports.filter(isWanted)),
  );
}

function targetsOf(relative: string, addresses: readonly string[], ports: readonly PortRecord[]): ServiceTarget[] {
  return ports.flatMap(({ port }) => (port === undefined ? [] : [{ relative, addresses, port }]));
}
