/**
 * Measures pods with local storage limits in the background. Pods control how long their measurement takes, so none of them may delay the
 * others for long.
 */
import { errorMessage, type Logger, pause } from '@podwright/base';
import { namespacedName, type Pod } from '@podwright/kube-api';
import type { DiskLayout } from '@podwright/kubelet-configuration';
import type { ClaimLimits } from '@podwright/volumes';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import { FrozenLimits, type FrozenLimitsDependencies } from './frozen-limits.ts';
import {
  emptyDirExcess,
  hasSizeLimit,
  hasStorageLimit,
  type LocalStorageExcess,
  storageExcess,
  type VolumeFiles,
} from './local-storage.ts';
import { isDoubtful } from './measure-frozen.ts';

/**
 * Time limit for the first walk of all of a pod's emptyDirs together. `SECOND_WALK_MS`: time limit for the second walk of each emptyDir
 * whose first walk was incomplete.
 */
const FIRST_WALKS_MS = 250;
const SECOND_WALK_MS = 5000;

/** Pause after the second walks, as a multiple of their duration, so that they do not monopolize a CPU. */
const PAUSE_FACTOR = 4;

/** Maximum time for which measuring one pod's emptyDirs delays the measurement of the other pods. */
const POD_DELAY_MS = 1000;

export type StorageLimitsDependencies = {
  /** Returns the usage of the given pods, including disk usage. */
  podStats: (pods: readonly Pod[]) => Promise<PodStatsByDisk[]>;
  volumePaths: (podUid: string) => VolumeFiles['paths'];
  /** Searches for deleted files that the given pods hold open, in a single pass. Returns their usage by pod UID. */
  heldInEmptyDirs: (podUids: ReadonlySet<string>) => Promise<Map<string, Awaited<ReturnType<VolumeFiles['held']>>>>;
  /** Finds pods that can write to a claim that exceeds its capacity. If unset, claims have no limit. */
  claimLimits?: Pick<ClaimLimits, 'excesses'>;
  logger: Logger;
} & FrozenLimitsDependencies;

export type PodExcess = { pod: Pod; excess: LocalStorageExcess };

/** Finds pods that exceed their storage limits. A slow or hung measurement is never started twice and delays the others only briefly. */
export class StorageLimits {
  readonly #deps: StorageLimitsDependencies;
  readonly #stopping: AbortSignal;
  /** Measurements in progress, by name. */
  readonly #running = new Map<string, Promise<void>>();
  /** Pods found to exceed a limit since the last `take`, by pod UID. */
  #excesses = new Map<string, PodExcess>();
  readonly #frozen: FrozenLimits;

  constructor(deps: StorageLimitsDependencies, stopping: AbortSignal) {
    this.#deps = deps;
    this.#stopping = stopping;
    this.#frozen = new FrozenLimits(deps, stopping);
  }

  /** Checks all limits. Resolves once everything that can be measured quickly has been checked. Never rejects. */
  async measure(pods: readonly Pod[], layout: DiskLayout): Promise<void> {
    this.#frozen.keep(pods);
    await Promise.all([
      this.#once('limits', () => this.#measureLimits(pods.filter(hasStorageLimit), layout)),
      this.#once('emptyDirs', () => this.#measureEmptyDirs(pods.filter(hasSizeLimit))),
      this.#once('claims', () => this.#measureClaims(pods)),
    ]);
    await this.#once('frozen pods', () => this.#frozen.check(layout, (pod, excess) => this.#add(pod, excess)));
  }

  /** Returns the pods found to exceed a limit since the last call. */
  take(): PodExcess[] {
    const found = [...this.#excesses.values()];
    this.#excesses = new Map();
    return found;
  }

  /** Resolves when no measurement is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Starts the named measurement unless it is already running. */
  #once(name: string, measure: () => Promise<void>): Promise<void> {
    const running =
      this.#running.get(name) ??
      measure()
        .catch((error: unknown) =>
          this.#deps.logger.debug(
            { of: name, error: errorMessage(error) },
            'the use of limited storage was not measured',
          ),
        )
        .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #measureLimits(pods: readonly Pod[], layout: DiskLayout): Promise<void> {
    const stats = pods.length === 0 ? [] : await this.#deps.podStats(pods);
    const byUid = new Map(stats.map((one) => [one.podRef.uid, one]));
    for (const pod of pods) {
      const own = byUid.get(pod.metadata.uid);
      const excess = own && storageExcess(pod, own, layout);
      this.#add(pod, excess);
      if (excess === undefined && own !== undefined && isDoubtful(own, Date.now())) this.#frozen.note(pod);
    }
  }

  async #measureClaims(pods: readonly Pod[]): Promise<void> {
    const { claimLimits, podStats } = this.#deps;
    for (const { pod, excess } of (await claimLimits?.excesses(pods, podStats, this.#stopping)) ?? [])
      this.#add(pod, excess);
  }

  async #measureEmptyDirs(pods: readonly Pod[]): Promise<void> {
    const { volumePaths, heldInEmptyDirs } = this.#deps;
    const partial: Pod[] = [];
    let searching: ReturnType<typeof heldInEmptyDirs> | undefined;
    const search = () => (searching ??= heldInEmptyDirs(new Set(pods.map(({ metadata }) => metadata.uid))));
    const measure = async (pod: Pod, timeoutMs: number) => {
      const { uid } = pod.metadata;
      const files = { paths: volumePaths(uid), held: async () => (await search()).get(uid) ?? new Map() };
      const { excess, ...found } = await emptyDirExcess(pod, files, { signal: this.#stopping, timeoutMs });
      this.#add(pod, excess);
      if (excess !== undefined) return;
      if (found.isPartial) partial.push(pod);
      if (isDoubtful(found, Date.now())) this.#frozen.note(pod);
    };
    const nameOf = (pod: Pod) => `emptyDirs of ${namespacedName(pod)}`;
    for (const pod of pods) {
      if (this.#running.has(nameOf(pod))) continue;
      const measuring = this.#once(nameOf(pod), () => measure(pod, FIRST_WALKS_MS / pod.spec.volumes!.length));
      await Promise.race([measuring, pause(POD_DELAY_MS, this.#stopping)]);
    }
    if (partial.length === 0) return;
    void this.#once('large emptyDirs', async () => {
      const startedAtMs = performance.now();
      for (const pod of partial.splice(0)) await this.#once(nameOf(pod), () => measure(pod, SECOND_WALK_MS));
      await pause((performance.now() - startedAtMs) * PAUSE_FACTOR, this.#stopping);
    });
  }

  #add(pod: Pod, excess: LocalStorageExcess | undefined): void {
    if (excess !== undefined) this.#excesses.set(pod.metadata.uid, { pod, excess });
  }
}
