/**
 * Chooses free devices for a container the way upstream's device manager does. Devices that are equally suitable are taken in the plugin's
 * order.
 */
import { PodwrightError } from '@podwright/base';
import { hasNode, type NodeMask } from '../topology/node-mask.ts';
import { type Device, NO_NODE } from './device-types.ts';

export type DeviceRequest = {
  resource: string;
  count: number;
  /** Healthy devices, in the plugin's order. */
  healthy: Device[];
  /** IDs of all assigned devices. */
  inUse: ReadonlySet<string>;
  /** IDs of the devices assigned to the pod's init containers, which are reused first. */
  reusable: ReadonlySet<string>;
  /** NUMA nodes of the container's topology hint; `undefined` if any NUMA node will do. */
  nodes: NodeMask | undefined;
};

/** Parameters of GetPreferredAllocation: the available devices, the devices that must be chosen, and how many to choose. */
export type Preference = { available: string[]; mustInclude: string[]; count: number };

/** Calls the plugin's GetPreferredAllocation. */
export type PreferDevices = (preference: Preference) => Promise<string[]>;

/** Returns the IDs of the chosen devices. Rejects with upstream's message if too few devices are free. */
export async function chooseDevices(request: DeviceRequest, prefer: PreferDevices): Promise<string[]> {
  const { resource, count, healthy, inUse, reusable, nodes } = request;
  const chosen = new Set(take([...reusable], count));
  const isDone = () => chosen.size === count;
  const addFrom = (ids: string[]) => {
    const fresh = ids.filter((id) => !chosen.has(id));
    for (const id of take(fresh, count - chosen.size)) chosen.add(id);
  };
  if (isDone()) return [...chosen];
  const free = healthy.filter(({ id }) => !inUse.has(id) && !chosen.has(id));
  const needed = count - chosen.size;
  if (free.length < needed) {
    const what = `requested number of devices unavailable for ${resource}`;
    throw new PodwrightError('resource_exhausted', `${what}. Requested: ${needed}, Available: ${free.length}`);
  }
  const { aligned, unaligned, elsewhere } = sortByNodes(free, nodes, healthy);
  const preferred = async (ids: string[]) => {
    const allowed = new Set(ids);
    const answer = await prefer({ available: [...ids, ...chosen], mustInclude: [...chosen], count });
    addFrom(answer.filter((id) => allowed.has(id)));
  };
  if (needed < aligned.length) await preferred(aligned);
  addFrom(aligned);
  if (!isDone()) await preferred(free.map(({ id }) => id));
  for (const rest of [unaligned, elsewhere]) addFrom(rest);
  return [...chosen];
}

const take = <T>(values: T[], count: number): T[] => values.slice(0, Math.max(0, count));

type ByNodes = { aligned: string[]; unaligned: string[]; elsewhere: string[] };

/**
 * Groups the free devices: on hinted NUMA nodes, on other NUMA nodes, without NUMA affinity. Within a group, devices on the NUMA nodes with
 * the fewest free devices come first, to avoid fragmenting the other NUMA nodes.
 */
function sortByNodes(free: Device[], nodes: NodeMask | undefined, all: Device[]): ByNodes {
  const ids = free.map(({ id }) => id);
  if (nodes === undefined || all.every((device) => device.nodes.length === 0))
    return { aligned: [], unaligned: [], elsewhere: ids };
  const counts = new Map<number, number>();
  for (const device of free) for (const node of placesOf(device)) counts.set(node, (counts.get(node) ?? 0) + 1);
  const isHinted = (node: number) => node !== NO_NODE && hasNode(nodes, node);
  const rank = (node: number) => (isHinted(node) ? 0 : node === NO_NODE ? 2 : 1);
  const order = [...counts.keys()].sort((a, b) => rank(a) - rank(b) || counts.get(a)! - counts.get(b)! || a - b);
  const placed = order.flatMap((node) =>
    free.filter((device) => placesOf(device).includes(node)).map(({ id }) => ({ id, group: rank(node) })),
  );
  const first = new Map(placed.toReversed().map(({ id, group }) => [id, group]));
  const inGroup = (group: number) => [
    ...new Set(placed.filter(({ id }) => first.get(id) === group).map(({ id }) => id)),
  ];
  return { aligned: inGroup(0), unaligned: inGroup(1), elsewhere: inGroup(2) };
}

const placesOf = ({ nodes }: Device) => (nodes.length === 0 ? [NO_NODE] : nodes);
