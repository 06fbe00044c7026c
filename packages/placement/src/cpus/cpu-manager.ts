import { PodwrightError } from '@podwright/base';
import {
  type Container,
  differenceOf,
  formatCpus,
  intersectionOf,
  isSameSet,
  isSidecar,
  type Pod,
  unionOf,
} from '@podwright/kube-api';
import type { Cpu } from '../topology/machine.ts';
import { countNodes, hasNode, masksOf, type NodeMask } from '../topology/node-mask.ts';
import { writeAtStart } from '../topology/state-file.ts';
import {
  AdmissionError,
  type AllocationRequest,
  type HintProvider,
  type ResourceHints,
  type TopologyHint,
} from '../topology/topology-hint.ts';
import type { CpuPolicyOptions } from './cpu-options.ts';
import { type CpuState, readCpuState, writeCpuState } from './cpu-state.ts';
import { takeDistributed } from './distribute-cpus.ts';
import { exclusiveCpus, exclusiveCpusOfPod } from './exclusive-cpus.ts';
import { countOf, takePacked } from './take-cpus.ts';

export type CpuManagerOptions = {
  cpus: Cpu[];
  /** CPUs reserved for the system, which are never assigned exclusively: either an explicit list or just a count. */
  reserved: { cpus: number[]; count: number };
  options: CpuPolicyOptions;
  /** Path of the checkpoint file. */
  file: string;
};

/**
 * Implements the `static` policy: assigns exclusive CPUs to containers of Guaranteed pods that request whole CPUs. All other containers run
 * on the shared CPUs.
 */
export class CpuManager implements HintProvider {
  readonly #options: CpuManagerOptions;
  readonly #all: number[];
  readonly reserved: number[];
  #state: CpuState;
  /** CPUs assigned to init containers of the pod being admitted; its later containers may reuse them. */
  #reusable: { podUid: string; cpus: number[] } = { podUid: '', cpus: [] };

  private constructor(options: CpuManagerOptions, state: CpuState | undefined) {
    this.#options = options;
    this.#all = options.cpus.map(({ id }) => id).sort((a, b) => a - b);
    this.reserved = this.#reserve();
    this.#state = state ?? { shared: [], own: {} };
  }

  /**
   * Restores the assignments made by an earlier kubelet. Rejects with `failed_precondition` if they are invalid or if too many CPUs are
   * reserved.
   */
  static async open(options: CpuManagerOptions): Promise<CpuManager> {
    const manager = new CpuManager(options, await readCpuState(options.file, 'static'));
    manager.#checkState();
    await writeAtStart(manager.#save(manager.#state));
    return manager;
  }

  #reserve(): number[] {
    const { cpus, count } = this.#options.reserved;
    const reserved = cpus.length > 0 ? cpus : this.#take(this.#all, count);
    const unknown = differenceOf(reserved, this.#all);
    if (unknown.length === 0 && reserved.length >= count) return reserved;
    const why =
      unknown.length > 0
        ? `the host has no processors ${formatCpus(unknown)}`
        : `size of ${formatCpus(reserved)} did not equal ${count}`;
    throw new PodwrightError(
      'failed_precondition',
      `[cpumanager] unable to reserve the required amount of CPUs (${why})`,
    );
  }

  /**
   * Throws unless the checkpoint accounts for every CPU exactly once. A checkpoint that contains no CPUs is replaced by the initial state.
   */
  #checkState(): void {
    const { shared, own } = this.#state;
    const { strictReservation } = this.#options.options;
    const given = Object.values(own).flatMap((containers) => Object.values(containers));
    if (shared.length === 0 && given.length === 0) {
      this.#state = { shared: strictReservation ? differenceOf(this.#all, this.reserved) : this.#all, own: {} };
      return;
    }
    const problem = stateProblem(this.#state, { all: this.#all, reserved: this.reserved, strictReservation });
    if (problem === undefined) return;
    const advice = `please drain node and remove policy state file ${this.#options.file}`;
    throw new PodwrightError('failed_precondition', `invalid state, ${advice}: ${problem}`);
  }

  /** Returns all CPUs that may be assigned exclusively. */
  get allocatable(): number[] {
    return differenceOf(this.#all, this.reserved);
  }

  /** Counts exclusive CPUs. `free`: how many can still be assigned. `given`: how many are assigned on each NUMA node. */
  counts(): { free: number; given: Map<number, number> } {
    const { own } = this.#state;
    const given = new Set(Object.values(own).flatMap((containers) => Object.values(containers).flat()));
    const byNode = Map.groupBy(this.#options.cpus, ({ node }) => node);
    const counted = [...byNode].map(([node, cpus]) => [node, cpus.filter(({ id }) => given.has(id)).length] as const);
    return { free: this.#free.length, given: new Map(counted) };
  }

  /** Returns a container's exclusive CPUs. */
  ownOf(podUid: string, container: string): number[] {
    return this.#state.own[podUid]?.[container] ?? [];
  }

  /** Returns the CPUs that a container runs on: its exclusive CPUs if it has any, otherwise the shared ones. */
  cpusOf(podUid: string, container: string): number[] {
    return this.#state.own[podUid]?.[container] ?? this.#state.shared;
  }

  /** Whether any main container or sidecar of the pod has exclusive CPUs. */
  hasOwn({ metadata: { uid }, spec }: Pod): boolean {
    const lasting = [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers];
    return lasting.some(({ name }) => this.ownOf(uid, name).length > 0);
  }

  get #free(): number[] {
    return differenceOf(this.#state.shared, this.reserved);
  }

  containerHints(pod: Pod, container: Container): ResourceHints {
    const count = exclusiveCpus(pod, container);
    if (count === 0) return {};
    const own = this.#state.own[pod.metadata.uid]?.[container.name];
    if (own !== undefined) return { cpu: own.length === count ? this.#hints(own, [], count) : [] };
    return { cpu: this.#hints(this.#free, this.#reusableOf(pod), count) };
  }

  podHints(pod: Pod): ResourceHints {
    const count = exclusiveCpusOfPod(pod);
    if (count === 0) return {};
    const own = this.#state.own[pod.metadata.uid] ?? {};
    const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
    const known = containers.filter(({ name }) => own[name] !== undefined);
    if (known.some((container) => own[container.name]!.length !== exclusiveCpus(pod, container))) return { cpu: [] };
    const assigned = unionOf(...Object.values(own));
    if (assigned.length === count) return { cpu: this.#hints(assigned, [], count) };
    return { cpu: this.#hints(this.#free, unionOf(this.#reusableOf(pod), assigned), count) };
  }

  /** Returns hints for the sets of NUMA nodes that have enough CPUs and include all the reusable ones. */
  #hints(available: number[], reusable: number[], count: number): TopologyHint[] {
    const { cpus } = this.#options;
    const nodes = [...new Set(cpus.map(({ node }) => node))].sort((a, b) => a - b);
    const nodeOf = new Map(cpus.map(({ id, node }) => [id, node]));
    const countOn = (ids: number[], mask: NodeMask) => ids.filter((id) => hasNode(mask, nodeOf.get(id)!)).length;
    const masks = masksOf(nodes);
    const least = masks.find((mask) => countOn(this.#all, mask) >= count);
    const leastCount = least === undefined ? nodes.length : countNodes(least);
    return masks
      .filter((mask) => countOn(reusable, mask) === reusable.length)
      .filter((mask) => countOn(reusable, mask) + countOn(available, mask) >= count)
      .map((mask) => ({
        nodes: mask,
        preferred: countNodes(mask) === leastCount || this.#isBySocket(mask, leastCount),
      }));
  }

  /** With `align-by-socket`, a set of NUMA nodes is also preferred if it spans no more sockets than necessary. */
  #isBySocket(mask: NodeMask, leastCount: number): boolean {
    const { cpus, options } = this.#options;
    const perSocket = Math.floor(countOf(cpus, 'node') / countOf(cpus, 'socket'));
    if (!options.alignBySocket || perSocket === 0) return false;
    return countOf(this.#on(mask), 'socket') === Math.ceil(leastCount / perSocket);
  }

  #on(mask: NodeMask): Cpu[] {
    return this.#options.cpus.filter(({ node }) => hasNode(mask, node));
  }

  async allocate({ pod, container, hint }: AllocationRequest): Promise<void> {
    const { uid } = pod.metadata;
    const count = exclusiveCpus(pod, container);
    if (count === 0) return;
    const known = this.#state.own[uid]?.[container.name];
    if (known === undefined) this.#requireWholeCores(count);
    const cpus = known ?? this.#choose(count, hint, this.#reusableOf(pod));
    this.#noteReusable(pod, container, cpus);
    if (known !== undefined) return;
    const own = { ...this.#state.own, [uid]: { ...this.#state.own[uid], [container.name]: cpus } };
    await this.#save({ shared: differenceOf(this.#state.shared, cpus), own });
  }

  /** With `full-pcpus-only`, throws unless the request can be met with whole free physical cores. */
  #requireWholeCores(count: number): void {
    const { options, cpus } = this.#options;
    if (!options.fullCores) return;
    const perCore = Math.floor(cpus.length / countOf(cpus, 'core'));
    const fail = (why: string) => new AdmissionError('SMTAlignmentError', `SMT Alignment Error: ${why}`);
    if (count % perCore !== 0) throw fail(`requested ${count} cpus not multiple cpus per core = ${perCore}`);
    const cores = new Set(cpus.filter(({ id }) => this.reserved.includes(id)).map(({ core }) => core));
    const ofReserved = cpus.filter(({ core }) => cores.has(core)).map(({ id }) => id);
    const free = differenceOf(this.#state.shared, ofReserved).length;
    if (count <= free) return;
    const amounts = `available physical CPUs = ${free}, requested CPUs = ${count}, CPUs per core = ${perCore}`;
    throw fail(`not enough free physical CPUs: ${amounts}`);
  }

  /** Chooses CPUs, preferring those on the hinted NUMA nodes. */
  #choose(count: number, { nodes }: TopologyHint, reusable: number[]): number[] {
    const free = unionOf(this.#free, reusable);
    const near = nodes === undefined ? [] : intersectionOf(free, this.#near(nodes));
    const first = this.#take(near, Math.min(count, near.length));
    return unionOf(first, this.#take(differenceOf(free, first), count - first.length));
  }

  #near(nodes: NodeMask): number[] {
    const { cpus, options } = this.#options;
    const own = this.#on(nodes);
    if (!options.alignBySocket) return own.map(({ id }) => id);
    const sockets = new Set(own.map(({ socket }) => socket));
    return cpus.filter(({ socket }) => sockets.has(socket)).map(({ id }) => id);
  }

  #take(available: number[], count: number): number[] {
    const { cpus, options } = this.#options;
    const order = options.acrossCores ? ('spread' as const) : ('packed' as const);
    const request = { cpus, available, count, order, byCache: options.byCache };
    const perCore = Math.floor(cpus.length / countOf(cpus, 'core'));
    if (options.acrossNodes) return takeDistributed({ ...request, groupSize: options.fullCores ? perCore : 1 });
    return takePacked(request);
  }

  #reusableOf({ metadata: { uid } }: Pod): number[] {
    return this.#reusable.podUid === uid ? this.#reusable.cpus : [];
  }

  #noteReusable(pod: Pod, container: Container, cpus: number[]): void {
    const before = this.#reusableOf(pod);
    const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name) === true;
    const after = isInit && !isSidecar(container) ? unionOf(before, cpus) : differenceOf(before, cpus);
    this.#reusable = { podUid: pod.metadata.uid, cpus: after };
  }

  async release(podUid: string): Promise<void> {
    const { [podUid]: freed, ...own } = this.#state.own;
    if (freed === undefined) return;
    // release the CPUs even if writing the checkpoint fails: a stale checkpoint entry for a removed pod is cleaned up on the next start
    this.#state = { shared: unionOf(this.#state.shared, ...Object.values(freed)), own };
    await writeCpuState(this.#options.file, this.#state);
  }

  async keepOnly(isKnown: (podUid: string) => boolean): Promise<void> {
    for (const podUid of Object.keys(this.#state.own)) if (!isKnown(podUid)) await this.release(podUid);
  }

  /** Writes the state to the checkpoint, then makes it current. */
  async #save(state: CpuState): Promise<void> {
    await writeCpuState(this.#options.file, state);
    this.#state = state;
  }
}

/** Returns upstream's error message for an invalid state; `undefined` if the state is valid. */
function stateProblem(
  { shared, own }: CpuState,
  { all, reserved, strictReservation }: { all: number[]; reserved: number[]; strictReservation: boolean },
): string | undefined {
  const sharedReserved = intersectionOf(reserved, shared);
  if (shared.length === 0) return 'default cpuset cannot be empty';
  if (strictReservation && sharedReserved.length > 0)
    return `some of strictly reserved cpus: "${formatCpus(sharedReserved)}" are present in defaultCpuSet: "${formatCpus(shared)}"`;
  if (!strictReservation && !isSameSet(sharedReserved, reserved))
    return `not all reserved cpus: "${formatCpus(reserved)}" are present in defaultCpuSet: "${formatCpus(shared)}"`;
  for (const [uid, containers] of Object.entries(own))
    for (const [name, cpus] of Object.entries(containers))
      if (intersectionOf(cpus, shared).length > 0)
        return `pod: ${uid}, container: ${name} cpuset: "${formatCpus(cpus)}" overlaps with default cpuset "${formatCpus(shared)}"`;
  const given = Object.values(own).flatMap((containers) => Object.values(containers));
  const known = unionOf(shared, ...given, strictReservation ? reserved : []);
  if (isSameSet(known, all)) return undefined;
  return `current set of available CPUs "${formatCpus(all)}" doesn't match with CPUs in state "${formatCpus(known)}"`;
}
