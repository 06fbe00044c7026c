import type { Logger, Registry } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { CgroupHierarchy } from '@podwright/host';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { CpuRates } from './cpu-rates.ts';
import { fileSystemOf } from './file-system-use.ts';
import { type FrozenOptions, type FrozenPodStats, FrozenStats, type FrozenStatsParts } from './frozen-stats.ts';
import type { HeldFiles } from './held-files.ts';
import { ImageFileSystems, layerFileSystems } from './image-file-systems.ts';
import { inTime } from './in-time.ts';
import { bootTime, cgroupUse, hostFacts } from './node-stats.ts';
import { NO_FILES_OF_POD, PodFiles, type PodFilesOnDisk, type PodFilesParts } from './pod-files.ts';
import {
  fullPodStats,
  type MeasuredPod,
  type PodDisk,
  type PodStatsByDisk,
  podCpuAndMemory,
  podStatsByDisk,
  processStats,
} from './pod-stats.ts';
import { type ReadyPod, readyPods } from './ready-pods.ts';
import { NO_USES, RuntimeUses, type RuntimeUsesParts } from './runtime-uses.ts';
import type { ContainerStats, HostUse, NodeStats, Summary, VolumeStats } from './summary.ts';
import { VolumeUse, type VolumeUseParts } from './volume-use.ts';

export type SummaryParts = RuntimeUsesParts &
  PodFilesParts & {
    cri: CriClient;
    nodeName: string;
    hierarchy: CgroupHierarchy | undefined;
    /** The node's memory, in bytes. */
    memoryBytes: number;
    volumePaths: (podUid: string) => ReadonlyMap<string, string>;
    /** Returns the usage that the CSI driver reports for the volume at a path. See `VolumeUseParts.driverUse`. */
    driverUse?: VolumeUseParts['driverUse'];
    freeze: FrozenStatsParts['freeze'];
    logger: Logger;
    metrics?: Registry;
  };

/**
 * Provides the resource usage of the node and its pods. Expensive parts are cached for ten seconds and carry the time of their measurement.
 */
export class SummaryProvider {
  readonly #parts: SummaryParts;
  readonly #rates = new CpuRates();
  readonly #bootTime = bootTime();
  readonly #volumes: VolumeUse;
  readonly #uses: RuntimeUses;
  readonly #images: ImageFileSystems;
  readonly #files: PodFiles;
  readonly #frozen: FrozenStats;

  constructor(parts: SummaryParts) {
    this.#parts = parts;
    this.#volumes = new VolumeUse({ ...parts, pathsOf: parts.volumePaths });
    this.#uses = new RuntimeUses(parts, this.#rates);
    this.#images = new ImageFileSystems(parts);
    this.#files = new PodFiles(parts, this.#images);
    this.#frozen = new FrozenStats(parts, { uses: this.#uses, files: this.#files, volumes: this.#volumes });
  }

  /** Returns the full summary. Rejects with the container runtime's error. */
  async full(): Promise<Summary> {
    const [measured, facts, files, images] = await Promise.all([
      this.#measuredPods(),
      hostFacts(),
      this.#files.get(),
      this.#images.get(),
    ]);
    const layers = await layerFileSystems(measured);
    const pods = measured.map((pod) => fullPodStats(pod, this.#diskOf(pod, { files, layers })));
    this.#volumes.keep(measured.flatMap(({ runtime: { pod } }) => this.#parts.podOf(pod.uid) ?? []));
    const { nodeName } = this.#parts;
    const own = { ...this.#systemContainers(), startTime: this.#bootTime, ...this.#root() };
    return { node: { nodeName, ...own, ...facts, fs: files.root, runtime: images }, pods };
  }

  /** Returns the host's use of CPU, memory and the kubelet's file system, with its pressure. Does not call the container runtime. */
  async host(): Promise<HostUse> {
    return { ...this.#root(), fs: await fileSystemOf(this.#parts.rootDir) };
  }

  /** Returns a summary with only CPU, memory and swap, which is cheaper than the full one. */
  async cpuAndMemory(): Promise<Summary> {
    const [pods, { swap }] = await Promise.all([this.#measuredPods(), hostFacts()]);
    const { nodeName } = this.#parts;
    const { io: _, ...root } = this.#root();
    const systemContainers = this.#systemContainers().systemContainers?.map(({ io, ...rest }) => rest);
    const node = { nodeName, systemContainers, startTime: this.#bootTime, ...root, swap };
    return { node, pods: pods.map(podCpuAndMemory) };
  }

  /**
   * Returns the CPU, memory and process usage of the given pods. If `disk` is set, also returns whatever disk usage is known when the
   * signal aborts; a pod that was not fully measured by then is marked as partial. If `fresh` is set, everything is measured now. If `disk`
   * is unset, rejects with the container runtime's error.
   */
  async podStats(
    podUids: ReadonlySet<string>,
    { fresh, disk }: { fresh: boolean; disk?: { signal: AbortSignal } },
  ): Promise<PodStatsByDisk[]> {
    if (disk !== undefined) return await this.#podStatsByDisk(podUids, { fresh, signal: disk.signal });
    const measured = (await this.#measuredPods({ fresh })).filter(({ runtime }) => podUids.has(runtime.pod.uid));
    return measured.map((pod) => ({ ...podCpuAndMemory(pod), ...processStats(pod) }));
  }

  async #podStatsByDisk(
    podUids: ReadonlySet<string>,
    { fresh, signal }: { fresh: boolean; signal: AbortSignal },
  ): Promise<PodStatsByDisk[]> {
    const { logger, podOf, rootDir } = this.#parts;
    const sinceMs = fresh ? performance.now() : 0;
    const pods = this.#readyPods().filter(({ runtime }) => podUids.has(runtime.pod.uid));
    // start measuring the volumes first, because a pod may free its files while the container runtime is being queried
    for (const { runtime } of pods) {
      const pod = podOf(runtime.pod.uid);
      if (pod !== undefined && fresh) this.#volumes.measureNow(pod);
      else if (pod !== undefined) this.#volumes.of(pod); // starts walks that are due
    }
    const [uses, newFiles] = await Promise.all([
      inTime(this.#uses.get({ fresh }), signal, logger),
      inTime(this.#files.get({ fresh }), signal, logger),
      inTime(this.#volumes.settled(), signal, logger),
    ]);
    const { uses: known, rates } = uses ?? this.#uses.last ?? NO_USES;
    const measured = pods.map(({ runtime, sandbox }) => ({
      ...{ runtime, sandbox, use: known.get(sandbox.id) ?? { containers: [] }, rates },
      isPartial: uses === undefined || !known.has(sandbox.id),
    }));
    const files = newFiles ?? this.#files.last ?? { root: await fileSystemOf(rootDir), pods: new Map() };
    const layers = await layerFileSystems(measured);
    this.#volumes.keep(this.#readyPods().flatMap(({ runtime: { pod } }) => podOf(pod.uid) ?? []));
    return measured.map(({ isPartial, ...pod }) => {
      const disk = this.#diskOf(pod, { files, layers }, sinceMs);
      return podStatsByDisk(pod, { ...disk, isPartial: disk.isPartial || isPartial });
    });
  }

  /**
   * Measures one pod's disk usage while its processes are frozen. Returns `undefined` if the pod has no ready sandbox or cannot be frozen.
   */
  async frozenPodStats(podUid: string, options: FrozenOptions): Promise<FrozenPodStats | undefined> {
    const ready = this.#readyPods().find(({ runtime }) => runtime.pod.uid === podUid);
    const pod = this.#parts.podOf(podUid);
    return ready === undefined || pod === undefined ? undefined : await this.#frozen.of(ready, pod, options);
  }

  /** Returns the stats measured so far for running pods' PVC volumes. */
  claimVolumes(): VolumeStats[] {
    const running = this.#parts.runtimePods().filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready));
    const pods = running.flatMap(({ pod }) => this.#parts.podOf(pod.uid) ?? []);
    this.#volumes.keep(pods);
    return pods.flatMap((pod) => this.#volumes.ofClaims(pod));
  }

  /** Returns the log sizes of running containers. */
  async containerLogs(): Promise<{ pod: RuntimePodStatus['pod']; container: string; bytes: number }[]> {
    const sizes = this.#readyPods().map(async ({ runtime }) => {
      const { pod, containers } = runtime;
      const logs = await this.#files.logsOf(runtime);
      const running = new Set(containers.filter(({ state }) => state === 'running').map(({ name }) => name));
      const shown = [...logs].filter(([name]) => running.has(name));
      return shown.map(([container, { bytes }]) => ({ pod, container, bytes }));
    });
    return (await Promise.all(sizes)).flat();
  }

  /** Returns the usage of deleted files that the given pods hold in emptyDirs. See `PodFiles.heldInEmptyDirs`. */
  heldInEmptyDirs(podUids: ReadonlySet<string>): Promise<Map<string, HeldFiles['emptyDirs']>> {
    return this.#files.heldInEmptyDirs(podUids);
  }

  /** The host's CPU, memory and IO usage. `hostFacts` reads its swap usage. */
  #root(): Pick<NodeStats, 'cpu' | 'memory' | 'io'> {
    const { hierarchy, memoryBytes } = this.#parts;
    const { cpu, memory, io } = cgroupUse(hierarchy, { path: '/', availableBytes: memoryBytes }, this.#rates);
    return { cpu, memory, io };
  }

  /** Stats of the pods' parent cgroup, if the kubelet manages it. */
  #systemContainers(): Pick<NodeStats, 'systemContainers'> {
    const { hierarchy, podsCgroup: path, memoryBytes } = this.#parts;
    if (path === '') return {};
    const use = cgroupUse(hierarchy, { path, availableBytes: memoryBytes }, this.#rates);
    const pods: ContainerStats = { name: 'pods', startTime: this.#bootTime, ...use };
    return use.cpu === undefined && use.memory === undefined ? {} : { systemContainers: [pods] };
  }

  /** Returns the pods that have a ready sandbox, each with its newest ready sandbox and that sandbox's statistics. */
  async #measuredPods({ fresh } = { fresh: false }): Promise<MeasuredPod[]> {
    const { uses, rates } = await this.#uses.get({ fresh });
    return this.#readyPods().flatMap(({ runtime, sandbox }) => {
      const use = uses.get(sandbox.id);
      return use === undefined ? [] : [{ runtime, sandbox, use, rates }];
    });
  }

  #readyPods(): ReadyPod[] {
    return readyPods(this.#parts.runtimePods());
  }

  /** Returns a pod's disk usage, which is partial if its volumes have not been measured since `sinceMs`. */
  #diskOf(
    { runtime }: MeasuredPod,
    { files, layers }: { files: PodFilesOnDisk; layers: PodDisk['layers'] },
    sinceMs = 0,
  ): PodDisk {
    const { uid } = runtime.pod;
    const pod = this.#parts.podOf(uid);
    const known = files.pods.get(uid);
    const volumes = pod === undefined ? [] : this.#volumes.of(pod);
    const isPartial = known === undefined || (pod !== undefined && this.#volumes.isPartial(pod, sinceMs));
    const changes = pod === undefined ? {} : this.#volumes.changes(pod);
    return { root: files.root, layers, ...(known ?? NO_FILES_OF_POD), volumes, pod, isPartial, ...changes };
  }
}
