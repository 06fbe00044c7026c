/** Measures a pod's disk usage while its processes are frozen, so that no file can be moved out of the way of the measurement. */
import { KeyedLock, type Logger } from '@podwright/base';
import type { FrozenCgroup } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { fileSystemOf } from './file-system-use.ts';
import { layerFileSystems } from './image-file-systems.ts';
import { inTime } from './in-time.ts';
import { NO_FILES_OF_POD, type PodFiles } from './pod-files.ts';
import { type PodStatsByDisk, podStatsByDisk, type SandboxUse } from './pod-stats.ts';
import type { ReadyPod } from './ready-pods.ts';
import type { RuntimeUses } from './runtime-uses.ts';
import type { VolumesNow, VolumeUse } from './volume-use.ts';

export type FrozenStatsParts = {
  /** Freezes the pod for at most slightly longer than `maxMs`; `undefined` if that is impossible. */
  freeze: (pod: Pod, maxMs: number) => Promise<FrozenCgroup | undefined>;
  rootDir: string;
  logger: Logger;
};

type Measures = {
  uses: Pick<RuntimeUses, 'ofPod'>;
  files: Pick<PodFiles, 'ofPod'>;
  volumes: Pick<VolumeUse, 'now' | 'of'>;
};

/** How long the pod may be frozen. The measurement is partial if it takes longer or `signal` aborts. */
export type FrozenOptions = { maxMs: number; signal: AbortSignal };

/**
 * A pod's usage while it was frozen. `emptyDirs`: the bytes that each emptyDir uses, including deleted files that the pod holds, by volume
 * name.
 */
export type FrozenPodStats = { stats: PodStatsByDisk; emptyDirs: ReadonlyMap<string, number> };

/** The measurements that completed before the pod had to be thawed. */
type FoundWhileFrozen = {
  use: SandboxUse | undefined;
  files: Awaited<ReturnType<PodFiles['ofPod']>> | undefined;
  volumes: VolumesNow | undefined;
};

/** Freezes and measures pods, one at a time. */
export class FrozenStats {
  readonly #parts: FrozenStatsParts;
  readonly #measures: Measures;
  readonly #lock = new KeyedLock();

  constructor(parts: FrozenStatsParts, measures: Measures) {
    this.#parts = parts;
    this.#measures = measures;
  }

  /** Measures the pod. Returns `undefined` if it cannot be frozen. */
  of(ready: ReadyPod, pod: Pod, options: FrozenOptions): Promise<FrozenPodStats | undefined> {
    return this.#lock.run('', () => this.#measure(ready, pod, options), options.signal);
  }

  async #measure(ready: ReadyPod, pod: Pod, options: FrozenOptions): Promise<FrozenPodStats | undefined> {
    const { rootDir } = this.#parts;
    const root = await fileSystemOf(rootDir);
    const found = await this.#whileFrozen(ready, pod, options);
    if (found === undefined) return undefined;
    const { use, files = NO_FILES_OF_POD, volumes } = found;
    const measured = { ...ready, use: use ?? { containers: [] }, rates: new Map<string, number>() };
    const layers = await layerFileSystems([measured]);
    const { stats: own, ...now }: VolumesNow = volumes ?? { stats: [], isPartial: true, changes: 'none' };
    const others = this.#measures.volumes.of(pod).filter((one) => own.every(({ name }) => name !== one.name));
    const isPartial = use === undefined || found.files === undefined || now.isPartial;
    const disk = { ...now, isPartial, root, layers, ...files, volumes: [...own, ...others], pod };
    const bytes = own.map(
      ({ name, usedBytes = 0 }) => [name, usedBytes + (files.held.emptyDirs.get(name)?.bytes ?? 0)] as const,
    );
    return { stats: podStatsByDisk(measured, disk), emptyDirs: new Map(bytes) };
  }

  async #whileFrozen(
    ready: ReadyPod,
    pod: Pod,
    { maxMs, signal }: FrozenOptions,
  ): Promise<FoundWhileFrozen | undefined> {
    const { freeze, logger } = this.#parts;
    const { uses, files, volumes } = this.#measures;
    const untilMs = performance.now() + maxMs;
    await using frozen = await freeze(pod, maxMs);
    if (frozen === undefined) return undefined;
    const timeoutMs = Math.max(1, Math.ceil(untilMs - performance.now()));
    const late = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const [ofRuntime, ofFiles, ofVolumes] = await Promise.all([
      inTime(uses.ofPod(ready.sandbox.id), late, logger),
      inTime(files.ofPod(ready.runtime, { timeoutMs }), late, logger),
      // add 1 ms, because changes with the same timestamp as the freeze were made before it
      inTime(volumes.now(pod, { timeoutMs, signal: late, changedSinceMs: frozen.frozenAtMs + 1 }), late, logger),
    ]);
    return { use: ofRuntime, files: ofFiles, volumes: ofVolumes };
  }
}
