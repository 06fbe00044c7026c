/** Tracks the free and allocated memory and huge pages of each NUMA node. Pure; follows upstream's memory manager. */
import type { NumaNode } from '../topology/machine.ts';
import { type NodeMask, nodesOf } from '../topology/node-mask.ts';

/** Sizes in bytes. `allocatable` equals `reserved` (allocated to containers) plus `free`. */
export type MemoryTable = {
  total: bigint;
  systemReserved: bigint;
  allocatable: bigint;
  reserved: bigint;
  free: bigint;
};

/** State of a NUMA node. `cells`: the NUMA nodes spanned by its allocations; just the node itself if there are none. */
export type NodeState = { assignments: number; memory: Record<string, MemoryTable>; cells: number[] };

export type MachineState = Record<number, NodeState>;

/** A container's memory or huge pages on a group of NUMA nodes. */
export type MemoryBlock = { nodes: number[]; type: string; size: bigint };

/** Sizes in bytes by resource name. */
export type MemoryRequest = Record<string, bigint>;

/** Returns the state without any allocations. Memory set aside for huge pages is excluded from regular memory. */
export function freeMachine(nodes: NumaNode[], reserved: Record<number, MemoryRequest>): MachineState {
  const states = nodes.map(({ id, memoryBytes, hugePages }): [number, NodeState] => {
    const systemReserved = reserved[id] ?? {};
    const inPages = Object.values(hugePages).reduce((sum, bytes) => sum + bytes, 0n);
    const memory = Object.fromEntries([
      ...Object.entries(hugePages).map(
        ([name, bytes]) => [name, freeTable(bytes, systemReserved[name] ?? 0n, 0n)] as const,
      ),
      ['memory', freeTable(memoryBytes, systemReserved.memory ?? 0n, inPages)] as const,
    ]);
    return [id, { assignments: 0, memory, cells: [id] }];
  });
  return Object.fromEntries(states);
}

function freeTable(total: bigint, systemReserved: bigint, inPages: bigint): MemoryTable {
  const allocatable = total - systemReserved - inPages;
  return { total, systemReserved, allocatable, reserved: 0n, free: allocatable };
}

/** Allocates a block: takes `needed` bytes of free memory from the NUMA nodes in order. Modifies the state. */
export function allocateBlock(machine: MachineState, { nodes, type }: Omit<MemoryBlock, 'size'>, needed: bigint): void {
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

/** Frees a block. Modifies the state. */
export function freeBlock(machine: MachineState, { nodes, type, size }: MemoryBlock): void {
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

/** Returns a resource's total over several NUMA nodes. */
export function sumOn(
  machine: MachineState,
  mask: NodeMask,
  sum: { type: string; of: 'free' | 'allocatable' },
): bigint {
  return nodesOf(mask).reduce((total, node) => total + (machine[node]?.memory[sum.type]?.[sum.of] ?? 0n), 0n);
}

/**
 * Whether any NUMA node in the mask has an allocation that does not span exactly the same NUMA nodes. If so, the mask cannot be used for an
 * allocation.
 */
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
