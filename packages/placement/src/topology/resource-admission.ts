import { errorMessage, KeyedLock } from '@podwright/base';
import type { Container, Pod } from '@podwright/kube-api';
import { type MergeOptions, mergeHints } from './merge-hints.ts';
import type { PlacementMetrics } from './placement-metrics.ts';
import { AdmissionError, type HintProvider, NO_HINT, type TopologyHint } from './topology-hint.ts';

/** Settings of the topology manager. Without them, there is no topology policy, and resources are allocated without alignment. */
export type TopologySettings = MergeOptions & { scope: 'container' | 'pod' };

/** Why a pod is rejected: the reason and the message for the pod status. */
export type ResourceRefusal = { reason: string; message: string };

/**
 * Key of the innermost lock, for decisions within this process. The outer locks are named after the resources returned by providers'
 * `sharedBy`.
 */
const LOCK = 'resources';

/**
 * Allocates exclusive resources to a pod's containers: devices, CPUs, and memory on NUMA nodes. A pod gets all its resources or none. Pods
 * that request the same resource from another process, such as a device plugin, are admitted one at a time.
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

  /**
   * Allocates the pod's resources. Resolves with a refusal if the pod is rejected, otherwise with `undefined`. No-op for a pod that already
   * has its resources. If the signal aborts, rejects with its reason and allocates nothing.
   */
  admit(pod: Pod, signal: AbortSignal): Promise<ResourceRefusal | undefined> {
    return this.whileShared(pod, () => this.#measured(pod, signal), signal);
  }

  /** Runs `work` while no other pod can be allocated any resources that this pod requests from other processes. */
  whileShared<T>(pod: Pod, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const keys = new Set(this.#providers.flatMap((provider) => provider.sharedBy?.(pod) ?? []));
    // locks are always acquired in the same order to avoid deadlocks
    const locked = [...keys]
      .sort()
      .reduceRight<() => Promise<T>>((inner, key) => () => this.#lock.run(key, inner, signal), work);
    return locked();
  }

  /** Runs `work` while no other resource decisions are made in this process. */
  exclusively<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#lock.run(LOCK, work, signal);
  }

  release(podUid: string): Promise<void> {
    return this.#lock.run(LOCK, () => this.#release(podUid));
  }

  async #measured(pod: Pod, signal: AbortSignal): Promise<ResourceRefusal | undefined> {
    const startedAtMs = performance.now();
    const refusal = await this.#admit(pod, signal);
    this.#metrics?.requested(performance.now() - startedAtMs);
    if (this.#topology === undefined) return refusal;
    const { policy, scope } = this.#topology;
    if (refusal !== undefined) this.#metrics?.failed();
    // count a rejected pod as one container, because allocation stops at the first container that fails
    const parts = scope === 'pod' || refusal !== undefined ? 1 : containersOf(pod).length;
    const isAligned = refusal === undefined;
    if (policy === 'single-numa-node' && (isAligned || refusal.reason === UNALIGNED))
      for (let part = 0; part < parts; part++) this.#metrics?.aligned(scope, isAligned);
    return refusal;
  }

  async #admit(pod: Pod, signal: AbortSignal): Promise<ResourceRefusal | undefined> {
    const topology = this.#topology;
    const containers = containersOf(pod);
    try {
      const groups =
        topology?.scope === 'pod'
          ? [{ pod, containers, hintOf: () => this.#podHint(pod, topology) }]
          : containers.map((one) => ({ pod, containers: [one], hintOf: () => this.#containerHint(pod, one) }));
      for (const group of groups) await this.#allocate(group, signal);
      return undefined;
    } catch (error) {
      await this.release(pod.metadata.uid);
      signal.throwIfAborted();
      if (error instanceof AdmissionError) return { reason: error.reason, message: error.message };
      const message = `Allocate failed due to ${errorMessage(error)}, which is unexpected`;
      return { reason: 'UnexpectedAdmissionError', message };
    }
  }

  /** Allocates resources to a group of containers according to a single topology hint. */
  async #allocate({ pod, containers, hintOf }: Group, signal: AbortSignal): Promise<void> {
    const isSlow = (provider: HintProvider) => provider.sharedBy !== undefined;
    const give = async (providers: HintProvider[], hint: TopologyHint) => {
      for (const container of containers)
        for (const provider of providers) await provider.allocate({ pod, container, hint }, signal);
    };
    const decide = async () => {
      const hint = hintOf();
      await give(
        this.#providers.filter((one) => !isSlow(one)),
        hint,
      );
      return hint;
    };
    const hint = await this.#lock.run(LOCK, decide, signal);
    await give(this.#providers.filter(isSlow), hint);
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

type Group = { pod: Pod; containers: Container[]; hintOf: () => TopologyHint };

const UNALIGNED = 'TopologyAffinityError';

function admitted({ hint, isAdmitted }: ReturnType<typeof mergeHints>): TopologyHint {
  if (isAdmitted) return hint;
  throw new AdmissionError(UNALIGNED, 'Resources cannot be allocated with Topology locality');
}
