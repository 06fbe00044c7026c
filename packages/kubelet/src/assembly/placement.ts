/** The managers for exclusive CPUs and NUMA memory. */
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import {
  CpuManager,
  countOf,
  type Machine,
  MemoryManager,
  readCpuState,
  readMemoryState,
  type TopologySettings,
} from '@podwright/placement';
import { hardEvictionReserve } from '../node-status/hard-eviction.ts';
import type { KubeletOptions } from '../options.ts';

export type Placement = {
  /** Set only if the CPU manager policy is static. */
  cpus?: CpuManager;
  memory?: MemoryManager;
  topology?: TopologySettings;
};

/**
 * Opens the CPU and memory managers. Rejects with `failed_precondition` if the host does not support the policies, or if they conflict with
 * allocations made before the kubelet restarted.
 */
export async function openPlacement(options: KubeletOptions, machine: () => Promise<Machine>): Promise<Placement> {
  const { placement, rootDir } = options;
  const files = { cpu: join(rootDir, 'cpu_manager_state'), memory: join(rootDir, 'memory_manager_state') };
  const topology = placement.topology.policy === 'none' ? undefined : topologySettings(options, await machine());
  const cpus = placement.cpu.policy === 'static' ? await openCpus(options, await machine(), files.cpu) : undefined;
  if (cpus === undefined) await readCpuState(files.cpu, 'none');
  const isStatic = placement.memory.policy === 'Static';
  const memory = isStatic ? await openMemory(options, await machine(), files.memory) : undefined;
  if (memory === undefined) await readMemoryState(files.memory, 'None');
  return { cpus, memory, topology };
}

const refuse = (why: string) => new PodwrightError('failed_precondition', why);

function topologySettings({ placement }: KubeletOptions, { nodes }: Machine): TopologySettings {
  const { policy, scope, options } = placement.topology;
  if (policy === 'none') throw refuse('there is no topology policy');
  if (nodes.length > options.maxNodes)
    throw refuse(
      `topologyManagerPolicy ${policy}: unsupported on machines with more than ${options.maxNodes} NUMA Nodes`,
    );
  const distances = new Map(nodes.map(({ id, distances: all }) => [id, byNode(nodes, all)]));
  const numa = { nodes: nodes.map(({ id }) => id), distances };
  return { policy, scope, preferClosest: options.preferClosest, numa };
}

/** Returns distances between NUMA nodes, indexed by node ID. The kernel lists them in node order, and node IDs can have gaps. */
function byNode(nodes: Machine['nodes'], distances: number[]): number[] {
  const found: number[] = [];
  for (const [index, { id }] of nodes.entries()) found[id] = distances[index] ?? 0;
  return found;
}

async function openCpus(options: KubeletOptions, { cpus }: Machine, file: string): Promise<CpuManager> {
  const { systemReserved, placement } = options;
  const { options: policy, reserved } = placement.cpu;
  if (systemReserved.cpuMillis === 0)
    throw refuse(
      '[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero',
    );
  if (policy.alignBySocket && countOf(cpus, 'socket') > countOf(cpus, 'node'))
    throw refuse('align-by-socket is not compatible with hosts that have more sockets than NUMA nodes');
  const count = Math.ceil(systemReserved.cpuMillis / 1000);
  return CpuManager.open({ cpus, reserved: { cpus: reserved, count }, options: policy, file });
}

async function openMemory(options: KubeletOptions, { nodes }: Machine, file: string): Promise<MemoryManager> {
  const { systemReserved, placement } = options;
  const { reserved } = placement.memory;
  const known = new Set(nodes.map(({ id }) => id));
  const unknown = reserved.find(({ node }) => !known.has(node));
  if (unknown !== undefined)
    throw refuse(
      `the reserved memory configuration references a NUMA node ${unknown.node} that does not exist on this machine`,
    );
  const total = nodes.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0n);
  const { memory: evicted = '0' } = hardEvictionReserve(options.node.evictionHard, { memory: String(total) });
  const kept = BigInt(systemReserved.memoryBytes === 'auto' ? 0 : systemReserved.memoryBytes) + BigInt(evicted);
  const names = new Set(['memory', ...reserved.flatMap(({ limits }) => Object.keys(limits))]);
  for (const name of names) {
    const sum = reserved.reduce((all, { limits }) => all + (limits[name] ?? 0n), 0n);
    const expected = name === 'memory' ? kept : 0n;
    if (sum !== expected)
      throw refuse(
        `the total amount "${sum}" of type "${name}" is not equal to the value "${expected}" determined by Node Allocatable feature`,
      );
  }
  const byNodes = nodes.map(({ id }) => [id, limitsOf(reserved, id)]);
  return MemoryManager.open({ nodes, reserved: Object.fromEntries(byNodes), file });
}

function limitsOf(reserved: KubeletOptions['placement']['memory']['reserved'], wanted: number): Record<string, bigint> {
  return Object.assign({}, ...reserved.filter(({ node }) => node === wanted).map(({ limits }) => limits));
}
