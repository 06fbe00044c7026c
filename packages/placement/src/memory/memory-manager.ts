import { PodwrightError } from '@podwright/base';
import { type Container, isSidecar, type Pod } from '@podwright/kube-api';
import type { NumaNode } from '../topology/machine.ts';
import { maskOf, type NodeMask, nodesOf } from '../topology/node-mask.ts';
import { writeAtStart } from '../topology/state-file.ts';
import type { AllocationRequest, HintProvider, ResourceHints } from '../topology/topology-hint.ts';
import { chooseNodes, memoryHints } from './memory-hints.ts';
import {
  allocateBlock,
  freeBlock,
  freeMachine,
  isSameGroup,
  type MachineState,
  type MemoryBlock,
  type MemoryRequest,
  smaller,
} from './memory-machine.ts';
import { memoryRequest, memoryRequestOfPod } from './memory-requests.ts';
import { type MemoryState, readMemoryState, writeMemoryState } from './memory-state.ts';

export type MemoryManagerOptions = {
  nodes: NumaNode[];
  /** Memory reserved for the system, by NUMA node. */
  reserved: Record<number, MemoryRequest>;
  /** Path of the checkpoint file. */
  file: string;
};

/** Implements the `Static` policy: allocates memory and huge pages for containers of Guaranteed pods from as few NUMA nodes as possible. */
export class MemoryManager implements HintProvider {
  readonly #options: MemoryManagerOptions;
  #state: MemoryState;
  /** Bytes allocated to init containers of the pod being admitted, by NUMA nodes and resource; its later containers may reuse them. */
  #reusable: { podUid: string; sizes: Map<string, bigint> } = { podUid: '', sizes: new Map() };

  private constructor(options: MemoryManagerOptions, state: MemoryState) {
    this.#options = options;
    this.#state = state;
  }

  /** Restores the allocations made by an earlier kubelet. Rejects with `failed_precondition` if they do not match this host. */
  static async open(options: MemoryManagerOptions): Promise<MemoryManager> {
    const known = await readMemoryState(options.file, 'Static');
    const free = freeMachine(options.nodes, options.reserved);
    if (known !== undefined && Object.keys(known.machine).length > 0) checkState(known, free, options.file);
    const manager = new MemoryManager(options, { machine: free, own: {}, ...known });
    if (Object.keys(manager.#state.machine).length === 0) manager.#state.machine = free;
    await writeAtStart(manager.#save(manager.#state));
    return manager;
  }

  /** Returns the NUMA nodes that hold a container's memory, in ascending order. */
  nodesOf(podUid: string, container: string): number[] {
    return nodesOf(maskOf(this.blocksOf(podUid, container).flatMap(({ nodes }) => nodes)));
  }

  blocksOf(podUid: string, container: string): MemoryBlock[] {
    return this.#state.own[podUid]?.[container] ?? [];
  }

  /** Returns the allocatable memory and huge pages of each NUMA node. */
  allocatable(): MemoryBlock[] {
    return Object.entries(this.#state.machine).flatMap(([node, { memory }]) =>
      Object.entries(memory)
        .filter(([, { allocatable }]) => allocatable > 0n)
        .map(([type, { allocatable: size }]) => ({ nodes: [Number(node)], type, size })),
    );
  }

  containerHints(pod: Pod, container: Container): ResourceHints {
    const known = this.#state.own[pod.metadata.uid]?.[container.name];
    if (known === undefined && this.#isOver(pod, container)) return {};
    return this.#hints(pod, memoryRequest(pod, container), known);
  }

  podHints(pod: Pod): ResourceHints {
    const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
    const own = this.#state.own[pod.metadata.uid] ?? {};
    const known = all.map(({ name }) => own[name]).find((blocks) => blocks !== undefined);
    return this.#hints(pod, memoryRequestOfPod(pod), known);
  }

  /** Returns the hints for a request. If memory is already allocated, the only hint is the NUMA nodes it is on. */
  #hints(pod: Pod, request: MemoryRequest, known: MemoryBlock[] | undefined): ResourceHints {
    const names = Object.keys(request);
    if (known === undefined) {
      const hints = memoryHints({ machine: this.#state.machine, request, reusable: this.#reusableOf(pod) });
      return hints.length === 0 ? {} : Object.fromEntries(names.map((name) => [name, hints]));
    }
    const isSame = known.length === names.length && known.every(({ type, size }) => request[type] === size);
    if (!isSame) return {};
    return Object.fromEntries(known.map(({ type, nodes }) => [type, [{ nodes: maskOf(nodes), preferred: true }]]));
  }

  async allocate({ pod, container, hint }: AllocationRequest): Promise<void> {
    const { uid } = pod.metadata;
    const request = memoryRequest(pod, container);
    if (Object.keys(request).length === 0) return;
    if (this.#reusable.podUid !== uid) this.#reusable = { podUid: uid, sizes: new Map() };
    const known = this.#state.own[uid]?.[container.name];
    if (known !== undefined) return this.#noteReusable(pod, container, known);
    if (this.#isOver(pod, container)) return;
    const reusable = this.#reusableOf(pod);
    const machine = structuredClone(this.#state.machine);
    const mask = chooseNodes({ machine, request, reusable }, hint);
    const nodes = nodesOf(mask);
    const blocks = Object.entries(request).map(([type, size]) => ({ nodes, type, size }));
    for (const block of blocks) {
      const again = reusable(mask, block.type);
      allocateBlock(machine, block, block.size > again ? block.size - again : 0n);
    }
    this.#noteReusable(pod, container, blocks);
    const containers = withoutReused(this.#state.own[uid] ?? {}, { pod, container, blocks });
    await this.#save({ machine, own: { ...this.#state.own, [uid]: { ...containers, [container.name]: blocks } } });
  }

  #reusableOf({ metadata: { uid } }: Pod): (nodes: NodeMask, type: string) => bigint {
    const { podUid, sizes } = this.#reusable;
    return (nodes, type) => (podUid === uid ? (sizes.get(`${nodes} ${type}`) ?? 0n) : 0n);
  }

  /** Updates the reusable memory: an init container's memory may be reused by later containers. */
  #noteReusable(pod: Pod, container: Container, blocks: MemoryBlock[]): void {
    const { sizes } = this.#reusable;
    const leaves = isPassingInit(pod, container.name);
    for (const { nodes, type, size } of blocks) {
      const key = `${maskOf(nodes)} ${type}`;
      const before = sizes.get(key) ?? 0n;
      if (leaves) sizes.set(key, size > before ? size : before);
      else sizes.set(key, before > size ? before - size : 0n);
    }
  }

  /** Whether exited init containers still hold memory that can be freed when this container starts. */
  hasLeftOvers(pod: Pod, container: Container): boolean {
    return this.#passedBy(pod, container).length > 0;
  }

  /** Frees the memory of exited init containers, as upstream does. Must be called when the container starts. */
  async freeLeftOvers(pod: Pod, container: Container): Promise<void> {
    for (const name of this.#passedBy(pod, container)) await this.#free(pod.metadata.uid, name);
  }

  /**
   * Whether this is an init container whose memory has been freed because later containers are running. It needs no memory after a kubelet
   * restart.
   */
  #isOver(pod: Pod, { name }: Container): boolean {
    const own = this.#state.own[pod.metadata.uid] ?? {};
    const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map((one) => one.name);
    return isPassingInit(pod, name) && all.slice(all.indexOf(name) + 1).some((later) => own[later] !== undefined);
  }

  #passedBy(pod: Pod, { name }: Container): string[] {
    const own = this.#state.own[pod.metadata.uid] ?? {};
    const inits = (pod.spec.initContainers ?? []).map((one) => one.name);
    const before = inits.includes(name) ? inits.slice(0, inits.indexOf(name)) : inits;
    return before.filter((one) => own[one] !== undefined && isPassingInit(pod, one));
  }

  async release(podUid: string): Promise<void> {
    if (this.#reusable.podUid === podUid) this.#reusable = { podUid: '', sizes: new Map() };
    for (const name of Object.keys(this.#state.own[podUid] ?? {})) await this.#free(podUid, name);
  }

  async #free(podUid: string, container: string): Promise<void> {
    const { [podUid]: ofPod = {}, ...others } = this.#state.own;
    const { [container]: freed = [], ...rest } = ofPod;
    const machine = structuredClone(this.#state.machine);
    for (const block of freed) freeBlock(machine, block);
    // free the memory even if writing the checkpoint fails: a stale checkpoint entry for a removed pod is cleaned up on the next start
    this.#state = { machine, own: Object.keys(rest).length === 0 ? others : { ...others, [podUid]: rest } };
    await writeMemoryState(this.#options.file, this.#state);
  }

  async keepOnly(isKnown: (podUid: string) => boolean): Promise<void> {
    for (const podUid of Object.keys(this.#state.own)) if (!isKnown(podUid)) await this.release(podUid);
  }

  /** Writes the state to the checkpoint, then makes it current. */
  async #save(state: MemoryState): Promise<void> {
    await writeMemoryState(this.#options.file, state);
    this.#state = state;
  }
}

function isPassingInit({ spec }: Pod, name: string): boolean {
  return spec.initContainers?.some((one) => one.name === name && !isSidecar(one)) === true;
}

type Reuse = { pod: Pod; container: Container; blocks: MemoryBlock[] };

/** Subtracts memory that a container reuses from the blocks of earlier init containers, to avoid counting it twice. */
function withoutReused(
  own: Record<string, MemoryBlock[]>,
  { pod, container, blocks }: Reuse,
): Record<string, MemoryBlock[]> {
  const left = structuredClone(own);
  for (const { nodes, type, size } of blocks) {
    let rest = size;
    for (const { name } of pod.spec.initContainers ?? []) {
      if (name === container.name) break;
      if (!isPassingInit(pod, name)) continue;
      for (const block of left[name] ?? []) {
        if (block.type !== type || !isSameGroup(block.nodes, nodes)) continue;
        const reused = smaller(block.size, rest);
        block.size -= reused;
        rest -= reused;
      }
    }
  }
  return left;
}

/**
 * Throws unless the recorded state matches this host's NUMA nodes and reservations. The recorded free amounts are trusted; upstream
 * recomputes them, and rejects some of its own files as a result.
 */
function checkState({ machine, own }: MemoryState, free: MachineState, file: string): void {
  const blocks = Object.values(own).flatMap((containers) => Object.values(containers).flat());
  const exists = ({ nodes, type }: MemoryBlock) => nodes.every((node) => free[node]?.memory[type] !== undefined);
  if (shapeOf(machine) === shapeOf(free) && blocks.every(exists)) return;
  const advice = `please drain node and remove policy state file ${file}`;
  const why = 'the expected machine state is different from the real one';
  throw new PodwrightError('failed_precondition', `[memorymanager] invalid state, ${advice}: ${why}`);
}

/** Serializes the total and reserved amounts of each NUMA node for comparison. */
function shapeOf(machine: MachineState): string {
  const tables = Object.entries(machine).flatMap(([node, { memory }]) =>
    Object.entries(memory).map(([type, { total, systemReserved, allocatable }]) =>
      [node, type, total, systemReserved, allocatable].join(' '),
    ),
  );
  return tables.sort().join();
}
