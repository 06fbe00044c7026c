import { isIPv4, isIPv6 } from 'node:net';
import { labelsOf } from '../wire/names.ts';
import type {
  Addresses,
  ClusterRecords,
  EndpointRecord,
  FoundName,
  PortRecord,
  ServiceEntry,
  ServiceTarget,
  Targets,
} from './cluster-records.ts';

const BRANCH: FoundName = { kind: 'branch' };
const NO_TARGETS: Targets = () => [];

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
  return { kind: 'addresses', addresses: byFamily(records.serverAddresses), targets: NO_TARGETS };
}

/** A pod's name is its address with dashes. Whether there is a pod with this address is not checked (`pods insecure` of CoreDNS). */
function podName(label: string): FoundName | undefined {
  const isIPv4Label = label.split('-').length === 4 && !label.includes('--');
  const address = label.replaceAll('-', isIPv4Label ? '.' : ':');
  if (!isIPv4(address) && !isIPv6(address)) return undefined;
  return { kind: 'addresses', addresses: byFamily([address]), targets: NO_TARGETS };
}

/** `labels`: the service's, then those below it, in reverse order of the name. */
function serviceName(labels: readonly string[], namespace: string, records: ClusterRecords): FoundName | undefined {
  const [name = '', first, second, ...more] = labels;
  const service = records.service(namespace, name);
  if (service === undefined || more.length > 0) return undefined;
  const at = { service, relative: `${name}.${namespace}.svc` };
  if (service.externalName !== undefined)
    return first === undefined ? { kind: 'alias', target: service.externalName } : undefined;
  if (second !== undefined) return remembered(service, `${second}.${first}`, () => portName(at, [first ?? '', second]));
  if (first?.startsWith('_')) return protocolName(service, first);
  if (first !== undefined) return endpointName(at, first);
  return remembered(service, '', () => wholeService(at));
}

/** Only names that exist are remembered, which are few: the service and its ports. */
function remembered(service: ServiceEntry, labels: string, find: () => FoundName | undefined): FoundName | undefined {
  const found = service.found.get(labels) ?? find();
  if (found !== undefined) service.found.set(labels, found);
  return found;
}

function wholeService({ service, relative }: ServicePlace): FoundName | undefined {
  if (service.isHeadless) return endpointsName({ service, relative }, service.endpoints);
  const { addresses, ports } = service;
  const targets = once(() => targetsOf(relative, addresses, ports));
  return { kind: 'addresses', addresses: byFamily(addresses), targets };
}

type ServicePlace = { service: ServiceEntry; relative: string };

function endpointName({ service, relative }: ServicePlace, label: string): FoundName | undefined {
  const matching = service.endpoints.filter((endpoint) => endpoint.label === label);
  return endpointsName({ service, relative }, matching);
}

/** As in CoreDNS, a headless service without ready endpoints has no name. */
function endpointsName({ relative }: ServicePlace, endpoints: readonly EndpointRecord[]): FoundName | undefined {
  if (endpoints.length === 0) return undefined;
  const addresses = byFamily(endpoints.map(({ address }) => address));
  return { kind: 'addresses', addresses, targets: once(() => endpointTargets(relative, endpoints, () => true)) };
}

/** A name like `_tcp.web.default.svc` has no record, but exists if a port does below it. */
function protocolName(service: ServiceEntry, label: string): FoundName | undefined {
  const ports = [...service.ports, ...service.endpoints.flatMap(({ ports }) => ports)];
  return ports.some((port) => port.name !== '' && protocolLabel(port) === label) ? BRANCH : undefined;
}

/** A name like `_http._tcp.web.default.svc`: only named ports have one (section 2.3.2 of the specification). */
function portName({ service, relative }: ServicePlace, [protocol, name]: [string, string]): FoundName | undefined {
  const isWanted = (port: PortRecord) =>
    port.name !== '' && `_${port.name}` === name && protocolLabel(port) === protocol;
  const targets = service.isHeadless
    ? endpointTargets(relative, service.endpoints, isWanted)
    : targetsOf(relative, service.addresses, service.ports.filter(isWanted));
  return targets.length > 0 ? { kind: 'service', targets: () => targets } : undefined;
}

const protocolLabel = ({ protocol }: PortRecord): string => `_${protocol.toLowerCase()}`;

function endpointTargets(
  relative: string,
  endpoints: readonly EndpointRecord[],
  isWanted: (port: PortRecord) => boolean,
): ServiceTarget[] {
  const targets = new Map<string, ServiceTarget>();
  for (const { label, address, ports } of endpoints) {
    for (const target of targetsOf(`${label}.${relative}`, [address], ports.filter(isWanted))) {
      const key = `${target.relative} ${target.port}`;
      const known = targets.get(key);
      const addresses = known === undefined ? target.addresses : [...new Set([...known.addresses, address])];
      targets.set(key, { ...target, addresses });
    }
  }
  return [...targets.values()];
}

function targetsOf(relative: string, addresses: readonly string[], ports: readonly PortRecord[]): ServiceTarget[] {
  const numbers = new Set(ports.flatMap(({ port }) => port ?? []));
  return [...numbers].map((port) => ({ relative, addresses, port }));
}

function byFamily(addresses: readonly string[]): Addresses {
  const distinct = [...new Set(addresses)];
  const isIPv6Text = (address: string) => address.includes(':');
  return { A: distinct.filter((address) => !isIPv6Text(address)), AAAA: distinct.filter(isIPv6Text) };
}

function once(compute: Targets): Targets {
  let known: readonly ServiceTarget[] | undefined;
  return () => {
    known ??= compute();
    return known;
  };
}
