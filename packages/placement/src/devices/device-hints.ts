import { countNodes, maskOf, masksOf, type NodeMask } from '../topology/node-mask.ts';
import type { TopologyHint } from '../topology/topology-hint.ts';
import { type Device, NO_NODE } from './device-types.ts';

/** Input for computing the topology hints for one resource. */
export type DeviceHintInput = {
  /** All devices of the plugin. */
  devices: Device[];
  available: ReadonlySet<string>;
  /** IDs of devices assigned to the pod's init containers. */
  reusable: ReadonlySet<string>;
  count: number;
  /** IDs of the host's NUMA nodes. */
  nodes: number[];
};

/** Returns a hint for each set of NUMA nodes that has enough devices; `undefined` if no device has NUMA affinity. Pure. */
export function deviceHints({
  devices,
  available,
  reusable,
  count,
  nodes,
}: DeviceHintInput): TopologyHint[] | undefined {
  if (devices.every((device) => device.nodes.length === 0)) return undefined;
  if (new Set([...available, ...reusable]).size < count) return [];
  const places = new Map(devices.map((device) => [device.id, maskOf(device.nodes)]));
  const placesOf = (ids: Iterable<string>) => tally([...ids].map((id) => places.get(id) ?? 0n));
  const all = placesOf(places.keys());
  const free = placesOf(available);
  const again = [...placesOf(reusable)].filter(([place]) => place !== 0n);
  const againCount = again.reduce((sum, [, amount]) => sum + amount, 0);
  const used = nodes.filter((node) => [...all.keys()].some((place) => (place & maskOf([node])) !== 0n));
  const masks = masksOf(used.length === 0 ? nodes : used);
  const least = masks.find((mask) => countOn(all, mask) >= count);
  const leastCount = least === undefined ? used.length : countNodes(least);
  return masks
    .filter((mask) => again.every(([place]) => (place & mask) !== 0n) && againCount + countOn(free, mask) >= count)
    .map((mask) => ({ nodes: mask, preferred: countNodes(mask) === leastCount }));
}

/** Counts the devices per distinct set of NUMA nodes. There may be many devices, but only a few distinct sets. */
function tally(places: NodeMask[]): Map<NodeMask, number> {
  const counts = new Map<NodeMask, number>();
  for (const place of places) counts.set(place, (counts.get(place) ?? 0) + 1);
  return counts;
}

const countOn = (counts: Map<NodeMask, number>, mask: NodeMask) =>
  [...counts].reduce((sum, [place, amount]) => sum + ((place & mask) === 0n ? 0 : amount), 0);

/** Groups device IDs by NUMA node, as they are stored in the checkpoint. */
export function byNode(devices: Device[]): Record<string, string[]> {
  const placed = devices.flatMap(({ id, nodes }) =>
    (nodes.length === 0 ? [NO_NODE] : nodes).map((node) => ({ id, node: String(node) })),
  );
  const nodes = [...new Set(placed.map(({ node }) => node))];
  const idsOn = (wanted: string) => placed.flatMap(({ id, node }) => (node === wanted ? [id] : []));
  return Object.fromEntries(nodes.map((node) => [node, idsOn(node)]));
}
