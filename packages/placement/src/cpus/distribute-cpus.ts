/** Takes equal numbers of CPUs from several NUMA nodes, for `distribute-cpus-across-numa`. Pure; chooses the same CPUs as upstream. */
import type { Cpu } from '../topology/machine.ts';
import { countOf, nodesInOrder, notEnough, type TakeRequest, takePacked } from './take-cpus.ts';

/**
 * Takes CPUs in multiples of `groupSize`, which is either the number of CPUs per core or 1. Throws `resource_exhausted` if there are not
 * enough CPUs.
 */
export function takeDistributed(request: TakeRequest & { groupSize: number }): number[] {
  const { cpus, available, count, groupSize } = request;
  const packed = () => takePacked({ ...request, byCache: false });
  if (count % groupSize !== 0) return packed();
  if (count < 1) return [];
  const free = byNode(cpus, available);
  if (available.length < count) throw notEnough(count, available.length);
  const [least, most] = nodeRange(cpus, { free: free.size, groups: Math.ceil(count / groupSize), groupSize });
  const order = nodesInOrder(request);
  for (let size = least; size <= most; size++) {
    const plan = bestPlan(order, size, { free, count, groupSize });
    if (plan !== undefined) return takePlanned(request, plan);
  }
  return packed();
}

/**
 * Returns the minimum and maximum number of NUMA nodes to try. The minimum would suffice if all their CPUs were free. The maximum is the
 * number of NUMA nodes with free CPUs or the number of groups, whichever is smaller.
 */
function nodeRange(
  cpus: Cpu[],
  { free, groups, groupSize }: { free: number; groups: number; groupSize: number },
): [least: number, most: number] {
  const perNode = Math.ceil(Math.ceil(cpus.length / groupSize) / countOf(cpus, 'node'));
  return [Math.ceil(groups / perNode), Math.min(groups, free)];
}

/** Takes `share` CPUs from each NUMA node in `nodes`, then the remaining groups round-robin from the NUMA nodes in `rest`. */
type Plan = { nodes: number[]; share: number; rest: number[] };
type PlanInput = { free: Map<number, number[]>; count: number; groupSize: number };

/** Returns the plan that leaves the free CPUs most evenly balanced across NUMA nodes. */
function bestPlan(order: number[], size: number, input: PlanInput): Plan | undefined {
  let best: { plan: Plan; balance: number } | undefined;
  for (const nodes of combinationsOf(order, size)) {
    const found = planOn(nodes, order, input);
    if (found !== undefined && (best === undefined || found.balance < best.balance)) best = found;
    if (best?.balance === 0) break;
  }
  return best?.plan;
}

function planOn(
  nodes: number[],
  order: number[],
  { free, count, groupSize }: PlanInput,
): { plan: Plan; balance: number } | undefined {
  const freeOn = (node: number) => free.get(node)!.length;
  const groups = nodes.reduce((sum, node) => sum + Math.floor(freeOn(node) / groupSize), 0);
  if (groups * groupSize < count) return undefined;
  const share = Math.floor(Math.floor(count / nodes.length) / groupSize) * groupSize;
  if (nodes.some((node) => freeOn(node) < share)) return undefined;
  const left = new Map(order.map((node) => [node, freeOn(node) - (nodes.includes(node) ? share : 0)]));
  const remainder = count - share * nodes.length;
  if (remainder === 0) return { plan: { nodes, share, rest: [] }, balance: spreadOf(left) };
  const candidates = nodes.filter((node) => left.get(node)! >= groupSize);
  const rest = bestRest(candidates, left, { remainder, groupSize });
  return rest && { plan: { nodes, share, rest: rest.nodes }, balance: rest.balance };
}

function bestRest(
  candidates: number[],
  left: Map<number, number>,
  { remainder, groupSize }: { remainder: number; groupSize: number },
): { nodes: number[]; balance: number } | undefined {
  let best: { nodes: number[]; balance: number } | undefined;
  for (let size = candidates.length; size >= 1; size--) {
    for (const nodes of combinationsOf(candidates, size)) {
      const after = afterRest(nodes, left, { remainder, groupSize });
      const balance = after === undefined ? Number.POSITIVE_INFINITY : spreadOf(after);
      if (balance < (best?.balance ?? Number.POSITIVE_INFINITY)) best = { nodes, balance };
    }
  }
  return best;
}

/**
 * Returns the number of free CPUs per NUMA node after taking the remaining groups round-robin; `undefined` if there are not enough CPUs.
 */
function afterRest(
  nodes: number[],
  left: Map<number, number>,
  { remainder, groupSize }: { remainder: number; groupSize: number },
): Map<number, number> | undefined {
  const after = new Map(left);
  let missing = remainder;
  while (missing > 0) {
    const given = nodes.filter((node) => after.get(node)! >= groupSize).slice(0, missing / groupSize);
    if (given.length === 0) return undefined;
    for (const node of given) after.set(node, after.get(node)! - groupSize);
    missing -= given.length * groupSize;
  }
  return after;
}

function takePlanned(request: TakeRequest & { groupSize: number }, { nodes, share, rest }: Plan): number[] {
  const { cpus, available, count, groupSize } = request;
  const taken = new Set<number>();
  const takeOn = (node: number, amount: number) => {
    const free = byNode(cpus, available)
      .get(node)!
      .filter((cpu) => !taken.has(cpu));
    if (free.length < amount) return;
    for (const cpu of takePacked({ ...request, byCache: false, available: free, count: amount })) taken.add(cpu);
  };
  for (const node of nodes) takeOn(node, share);
  while (taken.size < count) for (const node of rest) if (taken.size < count) takeOn(node, groupSize);
  return [...taken].sort((a, b) => a - b);
}

function byNode(cpus: Cpu[], available: number[]): Map<number, number[]> {
  const wanted = new Set(available);
  const found = new Map<number, number[]>();
  for (const { id, node } of cpus) if (wanted.has(id)) found.set(node, [...(found.get(node) ?? []), id]);
  return found;
}

/** Returns the standard deviation of the amounts, rounded to three decimal places. */
function spreadOf(amounts: Map<number, number>): number {
  const values = [...amounts.values()];
  const mean = rounded(values.reduce((sum, value) => sum + value, 0) / values.length);
  return rounded(Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length));
}

const rounded = (value: number) => Math.round(value * 1000) / 1000;

function* combinationsOf(values: number[], size: number, from = 0): Generator<number[]> {
  if (size === 0) return yield [];
  for (let index = from; index <= values.length - size; index++)
    for (const rest of combinationsOf(values, size - 1, index + 1)) yield [values[index]!, ...rest];
}
