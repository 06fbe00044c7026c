import { errorMessage, KeyedLock } from '@podwright/base';
import type { Container, Pod } from '../api/types.ts';
import { type MergeOptions, mergeHints } from './merge-hints.ts';
import type { PlacementMetrics } from './placement-metrics.ts';
import { AdmissionError, type HintProvider, NO_HINT, type TopologyHint } from './topology-hint.ts';

/** Absent without a policy: then everything is given out as it comes. */
export type TopologySettings = MergeOptions & { scope: 'container' | 'pod' };

/** Why a pod may not run, for its status. */
export type ResourceRefusal = { reason: string; message: string };

const LOCK = 'resources';

/**
 * Gives each container of a pod what only one may have: devices, processors, memory of NUMA nodes. One pod at a time; a pod that does
 * not get all of it has nothing.
 */
export class ResourceAdmission {
  readonly #providers: HintProvider[];
  readonly #topology: TopologySettings | undefined;
  readonly #metrics: PlacementMetrics | undefined;
  readonly #lock = new KeyedLock();

  constructor(providers: HintProvider[], topology: TopologySettings | undefined, metrics?: PlacementMetrics) {
    this.#providers = providers;
    this.#topology = topology;
    this.#metrics = metrics;
  }

  /** For a pod that has everything this changes nothing. */
  admit(pod: Pod, signal: AbortSignal): Promise<ResourceRefusal | undefined> {
    return this.#lock.run(LOCK, () => this.#measured(pod), signal);
  }

  /** Runs while nothing is given out. */
  exclusively<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#lock.run(LOCK, work, signal);
  }

  release(podUid: string): Promise<void> {
    return this.#lock.run(LOCK, () => this.#release(podUid));
  }

  async #measured(pod: Pod): Promise<ResourceRefusal | undefined> {
    const startedAtMs = performance.now();
    const refusal = await this.#admit(pod);
    this.#metrics?.asked(performance.now() - startedAtMs);
    if (this.#topology === undefined) return refusal;
    const { policy, scope } = this.#topology;
    if (refusal !== undefined) this.#metrics?.failed();
    // a container that comes after one that got nothing was not asked for
    const parts = scope === 'pod' || refusal !== undefined ? 1 : containersOf(pod).length;
    const isAligned = refusal === undefined;
    if (policy === 'single-numa-node' && (isAligned || refusal.reason === UNALIGNED))
      for (let part = 0; part < parts; part++) this.#metrics?.aligned(scope, isAligned);
    return refusal;
  }

  async #admit(pod: Pod): Promise<ResourceRefusal | undefined> {
    try {
      const podHint = this.#topology?.scope === 'pod' ? this.#podHint(pod, this.#topology) : undefined;
      for (const container of containersOf(pod)) {
        const hint = podHint ?? this.#containerHint(pod, container);
        for (const provider of this.#providers) await provider.allocate({ pod, container, hint });
      }
      return undefined;
    } catch (error) {
      await this.#release(pod.metadata.uid);
      if (error instanceof AdmissionError) return { reason: error.reason, message: error.message };
      const message = `Allocate failed due to ${errorMessage(error)}, which is unexpected`;
      return { reason: 'UnexpectedAdmissionError', message };
    }
  }

  async #release(podUid: string): Promise<void> {
    for (const provider of this.#providers) await provider.release(podUid);
  }

  #podHint(pod: Pod, topology: TopologySettings): TopologyHint {
    const hints = this.#providers.map((provider) => provider.podHints(pod));
    return admitted(mergeHints(hints, topology));
  }

  #containerHint(pod: Pod, container: Container): TopologyHint {
    if (this.#topology === undefined) return NO_HINT;
    const hints = this.#providers.map((provider) => provider.containerHints(pod, container));
    return admitted(mergeHints(hints, this.#topology));
  }
}

const containersOf = ({ spec }: Pod) => [...(spec.initContainers ?? []), ...spec.containers];

const UNALIGNED = 'TopologyAffinityError';

function admitted({ hint, isAdmitted }: ReturnType<typeof mergeHints>): TopologyHint {
  if (isAdmitted) return hint;
  throw new AdmissionError(UNALIGNED, 'Resources cannot be allocated with Topology locality');
}
