import { errorMessage, KeyedLock } from '@podwright/base';
import type { Container, Pod } from '../api/types.ts';
import { type MergeOptions, mergeHints } from './merge-hints.ts';
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
  readonly #lock = new KeyedLock();

  constructor(providers: HintProvider[], topology: TopologySettings | undefined) {
    this.#providers = providers;
    this.#topology = topology;
  }

  /** For a pod that has everything this changes nothing. */
  admit(pod: Pod, signal: AbortSignal): Promise<ResourceRefusal | undefined> {
    return this.#lock.run(LOCK, () => this.#admit(pod), signal);
  }

  /** Runs while nothing is given out. */
  exclusively<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#lock.run(LOCK, work, signal);
  }

  release(podUid: string): Promise<void> {
    return this.#lock.run(LOCK, () => this.#release(podUid));
  }

  async #admit(pod: Pod): Promise<ResourceRefusal | undefined> {
    try {
      const podHint = this.#topology?.scope === 'pod' ? this.#podHint(pod, this.#topology) : undefined;
      for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
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

function admitted({ hint, isAdmitted }: ReturnType<typeof mergeHints>): TopologyHint {
  if (isAdmitted) return hint;
  throw new AdmissionError('TopologyAffinityError', 'Resources cannot be allocated with Topology locality');
}
