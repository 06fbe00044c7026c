import { PodwrightError } from '@podwright/base';
import { checksumOf, goList, goMap, readStateFile, writeStateFile } from '../topology/state-file.ts';
import type { MachineState, MemoryBlock } from './memory-machine.ts';

/** Memory of each NUMA node, and the containers' memory blocks by pod UID and container name. */
export type MemoryState = { machine: MachineState; own: Record<string, Record<string, MemoryBlock[]>> };

/** Upstream's file format (memorymanager/state). */
type Table = Record<'total' | 'systemReserved' | 'allocatable' | 'reserved' | 'free', number>;
type Node = { numberOfAssignments: number; memoryMap: Record<string, Table>; cells: number[] };
type Block = { numaAffinity: number[]; type: string; size: number };
type Entries = Record<string, Record<string, Block[]>>;
type StateFile = { policyName: string; machineState: Record<string, Node>; entries?: Entries; checksum: number };

/**
 * Reads the memory allocations made by an earlier kubelet; `undefined` if there is no file. Rejects in the same cases as `readCpuState`.
 */
export async function readMemoryState(path: string, policy: 'None' | 'Static'): Promise<MemoryState | undefined> {
  try {
    const value = (await readStateFile(path)) as StateFile | undefined;
    if (value === undefined) return undefined;
    if (checksumOf(goState(value)) !== value.checksum) throw new Error('checkpoint is corrupted');
    if (value.policyName !== policy)
      throw new Error(
        `[memorymanager] configured policy "${policy}" differs from state checkpoint policy "${value.policyName}"`,
      );
    const own = mapValues(value.entries ?? {}, (all) => mapValues(all, (blocks) => blocks.map(blockOf)));
    return { machine: mapValues(value.machineState ?? {}, nodeOf), own };
  } catch (error) {
    const advice = `please drain this node and delete the memory manager checkpoint file "${path}" before restarting Kubelet`;
    const why = `could not restore state from checkpoint: ${(error as Error).message}, ${advice}`;
    throw new PodwrightError('failed_precondition', why, { cause: error });
  }
}

export function writeMemoryState(path: string, { machine, own }: MemoryState): Promise<void> {
  const machineState = mapValues(machine, ({ assignments, memory, cells }) => ({
    numberOfAssignments: assignments,
    memoryMap: mapValues(memory, (table) => mapValues(table, Number) as Table),
    cells,
  }));
  const entries: Entries = mapValues(own, (all) =>
    mapValues(all, (blocks) =>
      blocks.map(({ nodes, type, size }) => ({ numaAffinity: nodes, type, size: Number(size) })),
    ),
  );
  const state = { policyName: 'Static', machineState, entries };
  const checksum = checksumOf(goState({ ...state, checksum: 0 }));
  return writeStateFile(path, { ...state, entries: Object.keys(entries).length === 0 ? undefined : entries, checksum });
}

const blockOf = ({ numaAffinity, type, size }: Block): MemoryBlock => ({
  nodes: numaAffinity,
  type,
  size: BigInt(size),
});

function nodeOf({ numberOfAssignments, memoryMap, cells }: Node): MachineState[number] {
  const memory = mapValues(memoryMap, ({ total, systemReserved, allocatable, reserved, free }) => ({
    total: BigInt(total),
    systemReserved: BigInt(systemReserved),
    allocatable: BigInt(allocatable),
    reserved: BigInt(reserved),
    free: BigInt(free),
  }));
  return { assignments: numberOfAssignments, memory, cells };
}

function goState({ policyName, machineState, entries = {} }: StateFile): string {
  const all = goMap(entries, (containers) => goMap(containers, (blocks) => goList(blocks, goBlock)));
  return `(*state.MemoryManagerCheckpoint){PolicyName:(string)${policyName} MachineState:(state.NUMANodeMap)${goMap(machineState, goNode)} Entries:(state.ContainerMemoryAssignments)${all} Checksum:(checksum.Checksum)0}`;
}

const goNode = ({ numberOfAssignments, memoryMap, cells }: Node) =>
  `<*>{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${goMap(memoryMap, goTable)} Cells:([]int)${goList(cells)}}`;

const goTable = ({ total, systemReserved, allocatable, reserved, free }: Table) =>
  `<*>{TotalMemSize:(uint64)${total} SystemReserved:(uint64)${systemReserved} Allocatable:(uint64)${allocatable} Reserved:(uint64)${reserved} Free:(uint64)${free}}`;

const goBlock = ({ numaAffinity, type, size }: Block) =>
  `{NUMAAffinity:([]int)${goList(numaAffinity)} Type:(v1.ResourceName)${type} Size:(uint64)${size}}`;

function mapValues<T, U>(record: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
