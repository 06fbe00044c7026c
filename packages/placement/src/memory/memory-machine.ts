/** What is free and given out of each NUMA node's memory and huge pages. Pure; as upstream's memory manager has it. */
import type { NumaNode } from '../topology/machine.ts';
import { type NodeMask, nodesOf } from '../topology/node-mask.ts';

/** In bytes. What may be given out is `allocatable`: `reserved` of that is, `free` is not. */
export type MemoryTable = {
  total: bigint;
  systemReserved: bigint;
  allocatable: bigint;
  reserved: bigint;
  free: bigint;
};

/** `cells` are the nodes that what was given out here spans, this one alone if nothing was. */
export type NodeState = { assignments: number; memory: Record<string, MemoryTable>; cells: number[] };

export type MachineState = Record<number, NodeState>;

/** Memory or huge pages that a container has of some nodes together. */
export type MemoryBlock = { nodes: number[]; type: string; size: bigint };

/** Bytes by the name of the resource. */
export type MemoryRequest = Record<string, bigint>;

/** Before anything is given out. Huge pages are memory that is not there for anything else. */
export function freeMachine(nodes: NumaNode[], reserved: Record<number, MemoryRequest>): MachineState {
  const states = nodes.map(({ id, memoryBytes, hugePages }): [number, NodeState] => {
    const kept = reserved[id] ?? {};
    const inPages = Object.values(hugePages).reduce((sum, bytes) => sum + bytes, 0n);
    const memory = Object.fromEntries([
      ...Object.entries(hugePages).map(([name, bytes]) => [name, freeTable(bytes, kept[name] ?? 0n, 0n)] as const),
      ['memory', freeTable(memoryBytes, kept.memory ?? 0n, inPages)] as const,
    ]);
    return [id, { assignments: 0, memory, cells: [id] }];
  });
  return Object.fromEntries(states);
}

function freeTable(total: bigint, systemReserved: bigint, inPages: bigint): MemoryTable {
  const allocatable = total - systemReserved - inPages;
  return { total, systemReserved, allocatable, reserved: 0n, free: allocatable };
}

/** Counts a block as given out, `needed` of its bytes of what is free: of the first node as much as it has. Changes the state. */
export function giveOut(machine: MachineState, { nodes, type }: Omit<MemoryBlock, 'size'>, needed: bigint): void {
  let rest = needed;
  for (const node of nodes) {
    const state = machine[node]!;
    state.assignments++;
    state.cells = nodes;
    const table = state.memory[type];
    if (table === undefined || table.free <= 0n) continue;
    const given = smaller(table.free, rest);
    table.reserved += given;
    table.free -= given;
    rest -= given;
  }
}

/** Counts a block as free again. Changes the state. */
export function takeBack(machine: MachineState, { nodes, type, size }: MemoryBlock): void {
  let rest = size;
  for (const node of nodes) {
    const state = machine[node]!;
    state.assignments--;
    if (state.assignments === 0) state.cells = [node];
    const table = state.memory[type];
    if (table === undefined) continue;
    const freed = smaller(table.reserved, rest);
    table.free += freed;
    table.reserved -= freed;
    rest -= freed;
  }
}

export const smaller = (a: bigint, b: bigint) => (b > a ? a : b);

/** What nodes have together of a resource. */
export function sumOn(
  machine: MachineState,
  mask: NodeMask,
  sum: { type: string; of: 'free' | 'allocatable' },
): bigint {
  return nodesOf(mask).reduce((total, node) => total + (machine[node]?.memory[sum.type]?.[sum.of] ?? 0n), 0n);
}

/** Whether something was given out of one of several nodes that spans others than them all: then they cannot be used together. */
export function crossesGroups(machine: MachineState, mask: NodeMask): boolean {
  const nodes = nodesOf(mask);
  if (nodes.length === 1) return false;
  return nodes.some((node) => {
    const { assignments, cells } = machine[node]!;
    return assignments > 0 && (cells.length === 1 || !isSameGroup(cells, nodes));
  });
}

export function isSameGroup(nodes: number[], others: number[]): boolean {
  const ordered = (list: number[]) => list.toSorted((a, b) => a - b).join();
  return ordered(nodes) === ordered(others);
}
