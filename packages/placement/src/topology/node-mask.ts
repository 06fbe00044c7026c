/** A bit mask of NUMA nodes: node 3 is `8n`. */
export type NodeMask = bigint;

export function maskOf(nodes: Iterable<number>): NodeMask {
  let mask = 0n;
  for (const node of nodes) mask |= 1n << BigInt(node);
  return mask;
}

/** Returns the NUMA nodes in the mask, in ascending order. */
export function nodesOf(mask: NodeMask): number[] {
  const nodes: number[] = [];
  for (let node = 0, rest = mask; rest > 0n; node++, rest >>= 1n) if (rest & 1n) nodes.push(node);
  return nodes;
}

export const hasNode = (mask: NodeMask, node: number) => ((mask >> BigInt(node)) & 1n) === 1n;

export const countNodes = (mask: NodeMask) => nodesOf(mask).length;

/** Whether the mask has fewer NUMA nodes than the other one or, if equal, lower node IDs. */
export function isNarrower(mask: NodeMask, other: NodeMask): boolean {
  const difference = countNodes(mask) - countNodes(other);
  return difference === 0 ? mask < other : difference < 0;
}

/** Returns all non-empty subsets of these NUMA nodes, smallest first. */
export function masksOf(nodes: number[]): NodeMask[] {
  const masks = [0n];
  for (const node of nodes) masks.push(...masks.map((mask) => mask | (1n << BigInt(node))));
  const order = new Map(masks.slice(1).map((mask) => [mask, nodesOf(mask)]));
  return [...order.keys()].sort((a, b) => byNodes(order.get(a)!, order.get(b)!));
}

function byNodes(a: number[], b: number[]): number {
  if (a.length !== b.length) return a.length - b.length;
  const index = a.findIndex((node, position) => node !== b[position]);
  return index < 0 ? 0 : a[index]! - b[index]!;
}
