/** The canonical form of the subsets of an Endpoints object (pkg/api/v1/endpoints/util.go). Pure. */
import { stableJson } from '../framework/stable-hash.ts';
import type { EndpointAddress, EndpointSubset, SubsetPort } from '../objects/endpoints.ts';

/** Most addresses of an Endpoints object. */
const MAX_ADDRESSES = 1000;

/** Addresses of a port, by address and pod, and whether they are ready. */
type Addresses = Map<string, { address: EndpointAddress; isReady: boolean }>;

/**
 * Merges subsets: addresses with the same ports are in the same subset, sorted. An address that some subset has as not ready is not ready.
 * Addresses without ports are kept.
 */
export function repacked(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const known = new Map<string, EndpointAddress>();
  const byPort = new Map<string, { port: SubsetPort | undefined; addresses: Addresses }>();
  for (const subset of subsets) {
    const ports = subset.ports ?? [];
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const key = port === undefined ? '' : stableJson(port);
      const { addresses } = inserted(byPort, key, { port, addresses: new Map() });
      for (const one of subset.addresses ?? []) addAddress(addresses, known, { address: one, isReady: true });
      for (const one of subset.notReadyAddresses ?? []) addAddress(addresses, known, { address: one, isReady: false });
    }
  }
  const merged = new Map<string, { ports: SubsetPort[]; addresses: Addresses }>();
  for (const { port, addresses } of byPort.values()) {
    const { ports } = inserted(merged, addressesKey(addresses), { ports: [], addresses });
    if (port !== undefined) ports.push(port);
  }
  return [...merged.values()].map(subsetOf).sort((a, b) => compareTexts(stableJson(a), stableJson(b)));
}

/** Returns at most 1,000 addresses, ready ones first, of each subset a part in proportion. */
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

function addAddress(
  addresses: Addresses,
  known: Map<string, EndpointAddress>,
  { address, isReady }: { address: EndpointAddress; isReady: boolean },
): void {
  const key = `${address.ip} ${address.targetRef?.uid ?? ''}`;
  const first = inserted(known, key, address);
  const before = addresses.get(key)?.isReady ?? true;
  addresses.set(key, { address: first, isReady: before && isReady });
}

function addressesKey(addresses: Addresses): string {
  return [...addresses]
    .map(([key, { isReady }]) => `${key} ${isReady}`)
    .sort()
    .join();
}

function subsetOf({ ports, addresses }: { ports: SubsetPort[]; addresses: Addresses }): EndpointSubset {
  const sorted = [...addresses.values()].sort((a, b) => compareAddresses(a.address, b.address));
  const ready = sorted.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReady = sorted.filter(({ isReady }) => !isReady).map(({ address }) => address);
  return {
    ...(ready.length === 0 ? {} : { addresses: ready }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(ports.length === 0 ? {} : { ports: ports.sort((a, b) => compareTexts(stableJson(a), stableJson(b))) }),
  };
}

function compareAddresses(a: EndpointAddress, b: EndpointAddress): number {
  return compareTexts(a.ip, b.ip) || compareTexts(a.targetRef?.uid ?? '', b.targetRef?.uid ?? '');
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function inserted<V>(map: Map<string, V>, key: string, fresh: V): V {
  const known = map.get(key) ?? fresh;
  map.set(key, known);
  return known;
}
