import { isIPv4, isIPv6 } from 'node:net';
import { labelsOf } from '../wire/names.ts';
import type {
  Addresses,
  ClusterRecords,
  EndpointGroup,
  EndpointRecord,
  FoundName,
  ServiceEntry,
  ServiceTarget,
  Targets,
} from './cluster-records.ts';
import { portLabels } from './service-entry.ts';

const BRANCH: FoundName = { kind: 'branch' };
const NO_TARGETS: Targets = () => [];

/** Looks up a lower-case name that is the cluster's domain or a subdomain of it. Returns `undefined` if it does not exist. */
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

/** Looks up `ns.dns`, which is the server's name in the SOA record. */
function serverName(
  label: string | undefined,
  rest: readonly string[],
  records: ClusterRecords,
): FoundName | undefined {
  if (label === undefined) return BRANCH;
  if (label !== 'ns' || rest.length > 0) return undefined;
  return { kind: 'addresses', addresses: byFamily(records.serverAddresses), targets: NO_TARGETS };
}

/** Looks up a pod's name, which is its IP address with dashes. Whether the pod exists is not checked (like `pods insecure` in CoreDNS). */
function podName(label: string): FoundName | undefined {
  const isIPv4Label = label.split('-').length === 4 && !label.includes('--');
  const address = label.replaceAll('-', isIPv4Label ? '.' : ':');
  if (!isIPv4(address) && !isIPv6(address)) return undefined;
  return { kind: 'addresses', addresses: byFamily([address]), targets: NO_TARGETS };
}

/** Looks up the name of a service or a name under it. `labels`: the service's name, followed by the labels under it, in reverse order. */
function serviceName(labels: readonly string[], namespace: string, records: ClusterRecords): FoundName | undefined {
  const [name = '', first, second, ...more] = labels;
  const service = records.service(namespace, name);
  if (service === undefined || more.length > 0) return undefined;
  const known = second === undefined ? service.found.get(first ?? '') : undefined;
  if (known !== undefined) return known;
  const at = { service, relative: `${name}.${namespace}.svc` };
  if (service.externalName !== undefined)
    return first === undefined ? { kind: 'alias', target: service.externalName } : undefined;
  if (second !== undefined) return portName(at, portLabels(second, first ?? ''));
  if (first?.startsWith('_')) return service.protocols.has(first) ? BRANCH : undefined; // names of ports are below it
  if (first !== undefined) return endpointsName(at, first, service.labels.get(first) ?? []);
  return service.isHeadless ? endpointsName(at, '', service.groups) : clusterName(at);
}

type ServicePlace = { service: ServiceEntry; relative: string };

/** Caches the result of a lookup. Called only for names that exist, so the cache has at most one entry per endpoint. */
function remembered({ service }: ServicePlace, label: string, found: FoundName): FoundName {
  service.found.set(label, found);
  return found;
}

function clusterName(at: ServicePlace): FoundName {
  const { addresses, numbers } = at.service;
  const targets: Targets = (limit) => ownTargets(at, numbers, limit);
  return remembered(at, '', { kind: 'addresses', addresses: byFamily(addresses), targets });
}

/**
 * Returns the addresses and SRV targets of endpoints. As in CoreDNS, the name of a headless service without ready endpoints does not exist.
 */
function endpointsName(at: ServicePlace, label: string, groups: readonly EndpointGroup[]): FoundName | undefined {
  if (groups.length === 0) return undefined;
  return remembered(at, label, {
    kind: 'addresses',
    addresses: byFamily(groups.flatMap(({ endpoints }) => endpoints.map(({ address }) => address))),
    targets: (limit) => endpointTargets(at.relative, groups, limit),
  });
}

/** Looks up a name such as `_http._tcp.web.default.svc`. */
function portName(at: ServicePlace, labels: string): FoundName | undefined {
  const { isHeadless, namedPorts, portGroups } = at.service;
  if (isHeadless) {
    const groups = portGroups.get(labels);
    return groups && { kind: 'service', targets: (limit) => endpointTargets(at.relative, groups, limit) };
  }
  const numbers = namedPorts.get(labels);
  return numbers && { kind: 'service', targets: (limit) => ownTargets(at, numbers, limit) };
}

function ownTargets({ service, relative }: ServicePlace, numbers: readonly number[], limit: number): ServiceTarget[] {
  return numbers.slice(0, limit).map((port) => ({ relative, addresses: service.addresses, port }));
}

/** Maximum number of endpoint/port pairs to examine per target. A target can have several pairs, one per address of the endpoint. */
const PAIRS_PER_TARGET = 4;

function endpointTargets(relative: string, groups: readonly EndpointGroup[], limit: number): ServiceTarget[] {
  const targets = new Map<string, { label: string; addresses: Set<string>; port: number }>();
  let count = 0;
  for (const { label, address, port } of pairs(groups)) {
    if (++count > PAIRS_PER_TARGET * limit) break;
    const key = `${label} ${port}`;
    const known = targets.get(key);
    if (known !== undefined) known.addresses.add(address);
    else if (targets.size < limit) targets.set(key, { label, addresses: new Set([address]), port });
  }
  return Array.from(targets.values(), ({ label, addresses, port }) => ({
    relative: `${label}.${relative}`,
    addresses: [...addresses],
    port,
  }));
}

function* pairs(groups: readonly EndpointGroup[]): Generator<EndpointRecord & { port: number }, undefined> {
  for (const { endpoints, numbers } of groups) {
    if (numbers.length === 0) continue;
    for (const { label, address } of endpoints) for (const port of numbers) yield { label, address, port };
  }
}

function byFamily(addresses: readonly string[]): Addresses {
  const distinct = [...new Set(addresses)];
  const isIPv6Text = (address: string) => address.includes(':');
  return { A: distinct.filter((address) => !isIPv6Text(address)), AAAA: distinct.filter(isIPv6Text) };
}
