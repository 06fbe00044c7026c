/** Which free devices a container gets. Decisions are those of upstream's device manager; of equal devices the first is taken. */
import { PodwrightError } from '@podwright/base';
import { hasNode, type NodeMask } from '../topology/node-mask.ts';
import { type Device, NO_NODE } from './device-types.ts';

export type DeviceRequest = {
  resource: string;
  count: number;
  /** Healthy ones, in the plugin's order. */
  healthy: Device[];
  /** Of anybody. */
  inUse: ReadonlySet<string>;
  /** What init containers of the pod had: it is given out again first. */
  reusable: ReadonlySet<string>;
  /** Where the container is to be; `undefined` if it does not matter. */
  nodes: NodeMask | undefined;
};

/** Devices to choose from, those that must be among the chosen ones, and how many are to be chosen. */
export type Preference = { available: string[]; mustInclude: string[]; count: number };

/** Asks the plugin which devices it would give to the container. */
export type PreferDevices = (preference: Preference) => Promise<string[]>;

/** Rejects with what is missing, in upstream's words. */
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

/** Those of the wanted nodes first: of each group those of nodes with few devices, so that nodes with many stay whole. */
function sortByNodes(free: Device[], nodes: NodeMask | undefined, all: Device[]): ByNodes {
  const ids = free.map(({ id }) => id);
  if (nodes === undefined || all.every((device) => device.nodes.length === 0))
    return { aligned: [], unaligned: [], elsewhere: ids };
  const counts = new Map<number, number>();
  for (const device of free) for (const node of placesOf(device)) counts.set(node, (counts.get(node) ?? 0) + 1);
  const isWanted = (node: number) => node !== NO_NODE && hasNode(nodes, node);
  const rank = (node: number) => (isWanted(node) ? 0 : node === NO_NODE ? 2 : 1);
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
