/** Reads CRI statistics of pods and containers, and computes CPU usage rates from their counters. */
import { CachedReading, isDeadlineExceeded, isUnimplemented } from '@podwright/base';
import type { CriClient, ContainerStats as CriContainerStats } from '@podwright/cri';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { LEAST_USAGE_WINDOW_MS } from '../usage/limits.ts';
import type { CpuRates } from './cpu-rates.ts';
import { STATISTICS_CACHE, STATISTICS_TIMEOUT_MS } from './limits.ts';
import type { MeasuredPod, SandboxUse } from './pod-stats.ts';
import { readyPods } from './ready-pods.ts';

export type RuntimeUsesParts = {
  cri: Pick<CriClient, 'runtime'>;
  /** The pods' parent cgroup; '' if the container runtime picks one. */
  podsCgroup: string;
  runtimePods: () => RuntimePodStatus[];
};

/** CRI statistics by sandbox ID, the CPU rates, and the IDs of all sandboxes and containers that have a CPU counter. */
type Uses = {
  uses: Map<string, SandboxUse>;
  rates: MeasuredPod['rates'];
  ids: ReadonlySet<string>;
  /** False if some counters have been sampled only once, and therefore have no rate yet. */
  hasAllRates: boolean;
};

export const NO_USES: Pick<Uses, 'uses' | 'rates'> = { uses: new Map(), rates: new Map() };

/** CRI statistics of all pods, cached for ten seconds. */
export class RuntimeUses {
  readonly #parts: RuntimeUsesParts;
  readonly #rates: CpuRates;
  /** Whether the container runtime provides statistics of pod sandboxes, not just of containers. */
  #hasSandboxStats = true;
  readonly #uses = new CachedReading(() => this.#read(), STATISTICS_CACHE);

  /** `rates` also tracks the root cgroup and `podsCgroup`. */
  constructor(parts: RuntimeUsesParts, rates: CpuRates) {
    this.#parts = parts;
    this.#rates = rates;
  }

  /** Returns the statistics; if `fresh` is set, measures them now. Rejects with the container runtime's error. */
  get({ fresh }: { fresh: boolean }): Promise<Uses> {
    return fresh ? this.#uses.takeNew() : this.#uses.get((known, ageMs) => this.#isGood(known, ageMs));
  }

  /**
   * Returns the statistics of one pod, measured now, without CPU rates; `undefined` if there are none. Rejects with the container runtime's
   * error.
   */
  async ofPod(sandboxId: string): Promise<SandboxUse | undefined> {
    const { runtime } = this.#parts.cri;
    const options = { timeoutMs: STATISTICS_TIMEOUT_MS };
    if (this.#hasSandboxStats)
      return (await runtime.podSandboxStats({ podSandboxId: sandboxId }, options)).stats?.linux;
    const { stats } = await runtime.listContainerStats({ filter: { podSandboxId: sandboxId } }, options);
    return stats.length === 0 ? undefined : { containers: stats };
  }

  /** The cached CRI statistics of all pods, which may be out of date; `undefined` if they have not been read yet. */
  get last(): Uses | undefined {
    return this.#uses.last;
  }

  /**
   * Whether cached statistics are recent and complete enough. If they lack a pod, a running container or a CPU usage rate, they are accepted
   * only if they are so recent that a new measurement would lack rates as well.
   */
  #isGood({ ids, hasAllRates }: Uses, ageMs: number): boolean {
    if (ageMs < LEAST_USAGE_WINDOW_MS) return true;
    if (!hasAllRates) return false;
    return readyPods(this.#parts.runtimePods()).every(({ runtime, sandbox }) => {
      const running = runtime.containers.filter(({ state }) => state === 'running');
      return ids.has(sandbox.id) && running.every(({ id }) => ids.has(id));
    });
  }

  async #read(): Promise<Uses> {
    const uses = new Map<string, SandboxUse>();
    if (this.#hasSandboxStats) await this.#readSandboxes(uses);
    if (!this.#hasSandboxStats) await this.#readContainers(uses);
    const counted = new Set<string>();
    const rates = new Map([...uses].flatMap(([id, use]) => this.#ratesOf(id, use, counted)));
    const ownCgroups = ['/', this.#parts.podsCgroup].map((path) => `cgroup ${path}`);
    this.#rates.keep(new Set([...counted, ...ownCgroups]));
    const ids = new Set([...uses].flatMap(([id, { containers }]) => [id, ...containers.map((one) => withId(one).id)]));
    return { uses, rates, ids, hasAllRates: rates.size === counted.size };
  }

  /** Reads each pod's container statistics from a container runtime that does not provide pod statistics. */
  async #readContainers(uses: Map<string, SandboxUse>): Promise<void> {
    const { cri, runtimePods } = this.#parts;
    const { stats } = await cri.runtime.listContainerStats({}, { timeoutMs: STATISTICS_TIMEOUT_MS });
    const byId = new Map(stats.map((one) => [withId(one).id, one]));
    for (const { runtime: pod, sandbox } of readyPods(runtimePods())) {
      const containers = pod.containers.flatMap(({ id }) => byId.get(id) ?? []);
      if (containers.length > 0) uses.set(sandbox.id, { containers });
    }
  }

  async #readSandboxes(byId: Map<string, SandboxUse>): Promise<void> {
    try {
      const { runtime } = this.#parts.cri;
      const { stats } = await runtime.listPodSandboxStats({}, { timeoutMs: STATISTICS_TIMEOUT_MS });
      for (const { attributes, linux } of stats) if (linux !== undefined) byId.set(attributes?.id ?? '', linux);
    } catch (error) {
      if (isDeadlineExceeded(error)) throw error;
      if (isUnimplemented(error)) this.#hasSandboxStats = false;
      else await this.#readEachSandbox(byId, error);
    }
  }

  /** Queries the statistics pod by pod, because containerd 1.6 cannot list them for all pods while a terminated pod has no cgroup. */
  async #readEachSandbox(byId: Map<string, SandboxUse>, error: unknown): Promise<void> {
    const { cri, runtimePods } = this.#parts;
    const ids = runtimePods().flatMap(({ sandboxes }) => sandboxes.filter(({ ready }) => ready).map(({ id }) => id));
    const timeoutMs = STATISTICS_TIMEOUT_MS;
    const answers = await Promise.allSettled(
      ids.map((podSandboxId) => cri.runtime.podSandboxStats({ podSandboxId }, { timeoutMs })),
    );
    if (ids.length > 0 && answers.every(({ status }) => status === 'rejected')) throw error;
    for (const [index, answer] of answers.entries()) {
      const linux = answer.status === 'fulfilled' ? answer.value.stats?.linux : undefined;
      if (linux !== undefined) byId.set(ids[index]!, linux);
    }
  }

  #ratesOf(sandboxId: string, use: SandboxUse, counted: Set<string>): [string, number][] {
    const rates: [string, number][] = [];
    const counters = [{ id: sandboxId, cpu: use.cpu }, ...use.containers.map(withId)];
    for (const { id, cpu } of counters) {
      const used = cpu?.usageCoreNanoSeconds?.value;
      if (cpu === undefined || used === undefined) continue;
      counted.add(id);
      const rate = this.#rates.rate(id, used, cpu.timestamp);
      if (rate !== undefined) rates.push([id, rate]);
    }
    return rates;
  }
}

function withId({ attributes, cpu }: CriContainerStats) {
  return { id: attributes?.id ?? '', cpu };
}
