/** The canonical form of an Endpoints object's subsets (pkg/api/v1/endpoints/util.go). Pure. */
import { stableJson } from '../framework/stable-hash.ts';
import type { EndpointAddress, EndpointSubset, SubsetPort } from '../objects/endpoints.ts';

/** Maximum number of addresses in an Endpoints object. */
const MAX_ADDRESSES = 1000;

/** The addresses of a port, keyed by address and pod, with their readiness. */
type Addresses = Map<string, { address: EndpointAddress; isReady: boolean }>;

/**
 * Merges the subsets of an Endpoints object: addresses with the same ports end up in the same subset, sorted. An address that any subset
 * lists as not ready is not ready. Addresses without ports are retained.
 */
export function repacked(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const known = knownAddresses(subsets);
  const merged = new Map<string, { ports: KeyedPort[]; addresses: Addresses }>();
  for (const { ports, subsets: own } of withSameSubsets(subsets)) {
    const addresses: Addresses = new Map();
    for (const subset of own) {
      for (const one of subset.addresses ?? []) addAddress(addresses, known, { address: one, isReady: true });
      for (const one of subset.notReadyAddresses ?? []) addAddress(addresses, known, { address: one, isReady: false });
    }
    const one = inserted(merged, addressesKey(addresses), { ports: [], addresses });
    for (const keyed of ports) if (keyed.port !== undefined) one.ports.push(keyed);
  }
  return sortedBy([...merged.values()].map(subsetOf), stableJson);
}

/** A port and the key by which ports are compared; '' for no port. */
type KeyedPort = { key: string; port: SubsetPort | undefined };

/**
 * Groups the ports that occur in the same subsets, and returns each group with those subsets. Subsets that share a list of ports are
 * processed together, because both ports and subsets can be numerous.
 */
function withSameSubsets(subsets: readonly EndpointSubset[]): { ports: KeyedPort[]; subsets: EndpointSubset[] }[] {
  const lists = new Map<EndpointSubset['ports'], EndpointSubset[]>();
  for (const subset of subsets) inserted(lists, subset.ports, []).push(subset);
  const byPort = new Map<string, KeyedPort & { lists: Set<number> }>();
  for (const [number, ports] of [...lists.keys()].entries())
    for (const port of (ports ?? []).length === 0 ? [undefined] : ports!) {
      const key = port === undefined ? '' : stableJson(port);
      inserted(byPort, key, { key, port, lists: new Set() }).lists.add(number);
    }
  const ofList = [...lists.values()];
  return [...Map.groupBy(byPort.values(), (port) => [...port.lists].join()).values()].map((ports) => ({
    ports,
    subsets: [...ports[0]!.lists].flatMap((number) => ofList[number]!),
  }));
}

/** Truncates the subsets to 1,000 addresses, ready ones first, taking a proportional share of each subset. */
export function truncated(subsets: readonly EndpointSubset[]): { subsets: EndpointSubset[]; isTruncated: boolean } {
  const count = (list: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, one) => sum + (one[list]?.length ?? 0), 0);
  const [ready, notReady] = [count('addresses'), count('notReadyAddresses')];
  if (ready + notReady <= MAX_ADDRESSES) return { subsets: [...subsets], isTruncated: false };
  const list = ready > MAX_ADDRESSES ? 'addresses' : 'notReadyAddresses';
  const most = ready > MAX_ADDRESSES ? MAX_ADDRESSES : MAX_ADDRESSES - ready;
  const total = ready > MAX_ADDRESSES ? ready : notReady;
  let left = most;
  const cut = subsets.map((subset) => {
    const all = subset[list] ?? [];
    const part = all.slice(0, Math.min(left, Math.ceil((all.length / total) * most)));
    left -= part.length;
    const { notReadyAddresses: _removed, ...readyOnly } = subset;
    const base = list === 'addresses' ? readyOnly : subset;
    return { ...base, [list]: part };
  });
  return { subsets: cut, isTruncated: true };
}

/** Returns the first address for each combination of IP address and pod. */
function knownAddresses(subsets: readonly EndpointSubset[]): Map<string, EndpointAddress> {
  const known = new Map<string, EndpointAddress>();
  for (const { addresses = [], notReadyAddresses = [] } of subsets)
    for (const address of [...addresses, ...notReadyAddresses]) inserted(known, addressKey(address), address);
  return known;
}

const addressKey = ({ ip, targetRef }: EndpointAddress): string => `${ip} ${targetRef?.uid ?? ''}`;

function addAddress(
  addresses: Addresses,
  known: ReadonlyMap<string, EndpointAddress>,
  { address, isReady }: { address: EndpointAddress; isReady: boolean },
): void {
  const key = addressKey(address);
  const before = addresses.get(key)?.isReady ?? true;
  addresses.set(key, { address: known.get(key) ?? address, isReady: before && isReady });
}

function addressesKey(addresses: Addresses): string {
  return [...addresses]
    .map(([key, { isReady }]) => `${key} ${isReady}`)
    .sort()
    .join();
}

function subsetOf({ ports, addresses }: { ports: KeyedPort[]; addresses: Addresses }): EndpointSubset {
  const sorted = [...addresses.values()].sort((a, b) => compareAddresses(a.address, b.address));
  const ready = sorted.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReady = sorted.filter(({ isReady }) => !isReady).map(({ address }) => address);
  return {
    ...(ready.length === 0 ? {} : { addresses: ready }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(ports.length === 0 ? {} : { ports: sortedBy(ports, ({ key }) => key).flatMap(({ port }) => port ?? []) }),
  };
}

function compareAddresses(a: EndpointAddress, b: EndpointAddress): number {
  return compareTexts(a.ip, b.ip) || compareTexts(a.targetRef?.uid ?? '', b.targetRef?.uid ?? '');
}

function sortedBy<T>(values: readonly T[], textOf: (value: T) => string): T[] {
  const keyed = values.map((value) => ({ value, text: textOf(value) }));
  return keyed.sort((a, b) => compareTexts(a.text, b.text)).map(({ value }) => value);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function inserted<K, V>(map: Map<K, V>, key: K, fresh: V): V {
  const known = map.get(key) ?? fresh;
  map.set(key, known);
  return known;
}
