import { join } from 'node:path';
import {
  errorMessage,
  ignoreFailure,
  isDeadlineExceeded,
  isUnimplemented,
  type Logger,
  type Registry,
  raceAbort,
} from '@podwright/base';
import type { CriClient, ContainerStats as CriContainerStats } from '@podwright/cri';
import { type CgroupHierarchy, cgroupPids } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { BoundedReads, ReadsOfProcess } from '@podwright/system/open-files';
import type { RuntimePodStatus, RuntimeSandbox } from '../kubecontainer/runtime-pod.ts';
import { LEAST_USAGE_WINDOW_MS } from '../usage/limits.ts';
import { CachedReading } from './cached-reading.ts';
import { CpuRates } from './cpu-rates.ts';
import { type FileUse, fileSystemOf, filesIn, fileUse, sumOf } from './file-system-use.ts';
import { type HeldFiles, HeldFilesOfPods, type Holder, NOTHING_HELD, placesOf } from './held-files.ts';
import { STATISTICS_TIMEOUT_MS } from './limits.ts';
import { bootTime, cgroupUse, hostFacts } from './node-stats.ts';
import {
  fullPodStats,
  type MeasuredPod,
  type PodDisk,
  type PodStatsByDisk,
  podCpuAndMemory,
  podStatsByDisk,
  processStats,
  type SandboxUse,
} from './pod-stats.ts';
import type { ContainerStats, FsStats, NodeStats, Summary, VolumeStats } from './summary.ts';
import { VolumeUse, type VolumeUseParts } from './volume-use.ts';

export type SummaryParts = {
  cri: CriClient;
  nodeName: string;
  hierarchy: CgroupHierarchy | undefined;
  /** The node's memory, in bytes. */
  memoryBytes: number;
  /** The pods' parent cgroup; '' if the container runtime picks one. */
  podsCgroup: string;
  rootDir: string;
  /** Returns the path of a pod's log directory; `hostsFile` returns that of its hosts file. */
  logDirectory: (pod: RuntimePodStatus['pod']) => string;
  hostsFile: (podUid: string) => string;
  /** Returns the directory of a container's termination messages. */
  messageDirectory: (podUid: string, container: string) => string;
  /** Returns the pod's cgroup; '' if the container runtime picks one. */
  cgroupOf: (pod: Pod) => string;
  runtimePods: () => RuntimePodStatus[];
  podOf: (uid: string) => Pod | undefined;
  volumePaths: (podUid: string) => ReadonlyMap<string, string>;
  /** See `VolumeUseParts.driverUse`. */
  driverUse?: VolumeUseParts['driverUse'];
  logger: Logger;
  metrics?: Registry;
};

/** CRI statistics by sandbox ID, the CPU rates, and the IDs of all sandboxes and containers that have a CPU counter. */
type RuntimeUses = {
  uses: Map<string, SandboxUse>;
  rates: MeasuredPod['rates'];
  ids: ReadonlySet<string>;
  /** False if some counters have been sampled only once. */
  hasAllRates: boolean;
};

const NO_USES: Pick<RuntimeUses, 'uses' | 'rates'> = { uses: new Map(), rates: new Map() };

/** How long the first disk measurement waits for the container runtime to report where its writable layers are. */
const IMAGES_MS = 1000;

type PodFiles = Pick<PodDisk, 'logs' | 'others' | 'held'>;

/** Statistics of the file system that contains the kubelet's directory, and the disk usage of pods by UID. */
type Disks = { root: FsStats; pods: ReadonlyMap<string, PodFiles> };

/**
 * Provides the resource usage of the node and its pods. Expensive parts are cached for ten seconds and carry the time at which they were
 * measured.
 */
export class SummaryProvider {
  readonly #parts: SummaryParts;
  readonly #rates = new CpuRates();
  readonly #volumes: VolumeUse;
  readonly #bootTime = bootTime();
  /** A directory on the disk that holds container layers; '' until the container runtime has reported one. */
  #layersDirectory = '';
  readonly #heldFiles = new HeldFilesOfPods<string>();
  readonly #heldInEmptyDirs = new HeldFilesOfPods<string>();
  readonly #readsOfAll = new ReadsOfProcess();
  /** The limiter of file reads for each pod, by pod UID. */
  #reads = new Map<string, BoundedReads>();
  /** Whether the container runtime has statistics of pod sandboxes, not just of containers. */
  #hasSandboxStats = true;
  readonly #uses = new CachedReading(() => this.#readUses());
  readonly #images = new CachedReading(() => this.#imageFileSystems());
  readonly #disks = new CachedReading(() => this.#readDisks());

  constructor(parts: SummaryParts) {
    this.#parts = parts;
    this.#volumes = new VolumeUse({ ...parts, pathsOf: parts.volumePaths });
  }

  /** Returns the full summary. Rejects with the container runtime's error. */
  async full(): Promise<Summary> {
    const isRecent = (_: unknown, ageMs: number) => ageMs < LEAST_USAGE_WINDOW_MS;
    const [measured, facts, disks, images] = await Promise.all([
      this.#measuredPods(),
      hostFacts(),
      this.#knownDisks(),
      this.#images.get(isRecent),
    ]);
    const layers = await this.#layers(measured);
    const pods = measured.map((pod) => fullPodStats(pod, this.#diskOf(pod, { disks, layers })));
    this.#volumes.keep(measured.flatMap(({ runtime: { pod } }) => this.#parts.podOf(pod.uid) ?? []));
    const { nodeName } = this.#parts;
    const own = { ...this.#systemContainers(), startTime: this.#bootTime, ...this.#root() };
    return { node: { nodeName, ...own, ...facts, fs: disks.root, runtime: images }, pods };
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
   * Returns the CPU, memory and process usage of the given pods. With `disk`, also returns whatever disk usage is known when the signal
   * aborts; a pod that was not fully measured by then is marked as partial. With `fresh`, everything is measured now. Without `disk`,
   * rejects with the container runtime's error.
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
    const sinceMs = fresh ? performance.now() : 0;
    const pods = this.#readyPods().filter(({ runtime }) => podUids.has(runtime.pod.uid));
    // do this first, because a pod may free its files while the container runtime is being queried
    for (const { runtime } of pods) {
      const pod = this.#parts.podOf(runtime.pod.uid);
      if (pod !== undefined && fresh) this.#volumes.measureEphemeral(pod);
      else if (pod !== undefined) this.#volumes.of(pod); // starts walks that are due
    }
    const [uses, disks] = await Promise.all([
      this.#inTime(this.#knownUses({ fresh }), signal),
      this.#inTime(this.#knownDisks({ fresh }), signal),
      this.#inTime(this.#volumes.settled(), signal),
    ]);
    const { uses: known, rates } = uses ?? this.#uses.last ?? NO_USES;
    const measured = pods.map(({ runtime, sandbox }) => ({
      ...{ runtime, sandbox, use: known.get(sandbox.id) ?? { containers: [] }, rates },
      isPartial: uses === undefined || !known.has(sandbox.id),
    }));
    const files = disks ?? this.#disks.last ?? { root: await fileSystemOf(this.#parts.rootDir), pods: new Map() };
    const layers = await this.#layers(measured);
    this.#volumes.keep(this.#readyPods().flatMap(({ runtime: { pod } }) => this.#parts.podOf(pod.uid) ?? []));
    return measured.map(({ isPartial, ...pod }) => {
      const disk = this.#diskOf(pod, { disks: files, layers }, sinceMs);
      return podStatsByDisk(pod, { ...disk, isPartial: disk.isPartial || isPartial });
    });
  }

  /** Resolves with the result of a measurement, or with `undefined` if it fails or is not available when the signal aborts. */
  #inTime<T>(measuring: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    return raceAbort(measuring, signal).catch((error: unknown) => {
      this.#parts.logger.debug({ error: errorMessage(error) }, 'a measurement of pods failed or is late');
      return undefined;
    });
  }

  /** Returns the stats of running pods' PVC volumes that have been measured so far. */
  claimVolumes(): VolumeStats[] {
    const running = this.#parts.runtimePods().filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready));
    const pods = running.flatMap(({ pod }) => this.#parts.podOf(pod.uid) ?? []);
    this.#volumes.keep(pods);
    return pods.flatMap((pod) => this.#volumes.ofClaims(pod));
  }

  /** Returns the log sizes of running containers. */
  async containerLogs(): Promise<{ pod: RuntimePodStatus['pod']; container: string; bytes: number }[]> {
    const cached = this.#disks.last?.pods;
    const sizes = this.#readyPods().map(async ({ runtime }) => {
      const { pod, containers } = runtime;
      const logs = cached?.get(pod.uid)?.logs ?? (await this.#logsOf(runtime));
      const running = new Set(containers.filter(({ state }) => state === 'running').map(({ name }) => name));
      const shown = [...logs].filter(([name]) => running.has(name));
      return shown.map(([container, { bytes }]) => ({ pod, container, bytes }));
    });
    return (await Promise.all(sizes)).flat();
  }

  /**
   * Returns the usage of deleted files that the given pods currently hold in emptyDirs, by pod UID and volume name. Runs one round of
   * searches.
   */
  async heldInEmptyDirs(podUids: ReadonlySet<string>): Promise<Map<string, HeldFiles['emptyDirs']>> {
    const pods = this.#readyPods().filter(({ runtime }) => podUids.has(runtime.pod.uid));
    const found = await this.#heldInEmptyDirs.measure(this.#holders(pods));
    return new Map([...found].map(([uid, { emptyDirs }]) => [uid, emptyDirs]));
  }

  /** Resolves once all measurements of volumes that have been started so far are finished. */
  volumesMeasured(): Promise<void> {
    return this.#volumes.settled();
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
    const { uses, rates } = await this.#knownUses({ fresh });
    return this.#readyPods().flatMap(({ runtime, sandbox }) => {
      const use = uses.get(sandbox.id);
      return use === undefined ? [] : [{ runtime, sandbox, use, rates }];
    });
  }

  #knownUses({ fresh }: { fresh: boolean }): Promise<RuntimeUses> {
    const isGood = (known: RuntimeUses, ageMs: number) => this.#isGood(known, ageMs);
    return fresh ? this.#uses.takeNew() : this.#uses.get(isGood);
  }

  /**
   * Whether cached statistics are recent and complete enough. If they lack a pod, a running container or a CPU usage rate, they are accepted
   * only if they are so recent that a new measurement would lack rates as well.
   */
  #isGood({ ids, hasAllRates }: RuntimeUses, ageMs: number): boolean {
    if (ageMs < LEAST_USAGE_WINDOW_MS) return true;
    if (!hasAllRates) return false;
    return this.#readyPods().every(({ runtime, sandbox }) => {
      const running = runtime.containers.filter(({ state }) => state === 'running');
      return ids.has(sandbox.id) && running.every(({ id }) => ids.has(id));
    });
  }

  #readyPods(): { runtime: RuntimePodStatus; sandbox: RuntimeSandbox }[] {
    return this.#parts.runtimePods().flatMap((runtime) => {
      const sandbox = runtime.sandboxes.find(({ ready }) => ready);
      return sandbox === undefined ? [] : [{ runtime, sandbox }];
    });
  }

  async #readUses(): Promise<RuntimeUses> {
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

  /** Reads each pod's container statistics from a container runtime that has no pod statistics. */
  async #readContainers(uses: Map<string, SandboxUse>): Promise<void> {
    const { runtime } = this.#parts.cri;
    const { stats } = await runtime.listContainerStats({}, { timeoutMs: STATISTICS_TIMEOUT_MS });
    const byId = new Map(stats.map((one) => [withId(one).id, one]));
    for (const { runtime: pod, sandbox } of this.#readyPods()) {
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

  async #imageFileSystems(): Promise<NodeStats['runtime']> {
    const { imageFilesystems, containerFilesystems } = await this.#parts.cri.image.imageFsInfo({});
    this.#layersDirectory = (containerFilesystems[0] ?? imageFilesystems[0])?.fsId?.mountpoint ?? '';
    const [image, container = image] = await Promise.all(
      [imageFilesystems[0], containerFilesystems[0]].map(async (one) => {
        if (one === undefined) return undefined;
        const fileSystem = await this.#fileSystem(one.fsId?.mountpoint ?? '');
        const [usedBytes, inodesUsed] = [one.usedBytes?.value, one.inodesUsed?.value];
        return (
          fileSystem && { ...fileSystem, usedBytes: Number(usedBytes ?? 0n), inodesUsed: Number(inodesUsed ?? 0n) }
        );
      }),
    );
    return { imageFs: image, containerFs: container };
  }

  /** Returns statistics of the file systems that contain writable layers, without duplicates. */
  async #layers(pods: MeasuredPod[]): Promise<Map<string, FsStats>> {
    const all = pods.flatMap(({ use }) => use.containers.map(({ writableLayer }) => writableLayer?.fsId?.mountpoint));
    const layers = new Map<string, FsStats>();
    for (const mountpoint of new Set(all)) {
      const stats = await this.#fileSystem(mountpoint ?? '');
      if (stats !== undefined) layers.set(mountpoint!, stats);
    }
    return layers;
  }

  /**
   * Returns the stats of the file system at a path reported by the container runtime. `undefined` if they cannot be read, for example
   * because the path does not exist in this process's mount namespace.
   */
  async #fileSystem(mountpoint: string): Promise<FsStats | undefined> {
    return mountpoint === '' ? undefined : await fileSystemOf(mountpoint).catch(() => undefined);
  }

  #knownDisks({ fresh } = { fresh: false }): Promise<Disks> {
    const isGood = ({ pods }: Disks, ageMs: number) =>
      ageMs < LEAST_USAGE_WINDOW_MS || this.#readyPods().every(({ runtime }) => pods.has(runtime.pod.uid));
    return fresh ? this.#disks.takeNew() : this.#disks.get(isGood);
  }

  async #readDisks(): Promise<Disks> {
    const root = await fileSystemOf(this.#parts.rootDir);
    const images = this.#images.get(() => true);
    if (this.#layersDirectory === '') await this.#inTime(images, AbortSignal.timeout(IMAGES_MS));
    else ignoreFailure(images, 'the directory is known');
    const ready = this.#readyPods();
    const uids = new Set(ready.map(({ runtime }) => runtime.pod.uid));
    this.#reads = new Map([...this.#reads].filter(([uid]) => uids.has(uid)));
    const pods = new Map<string, PodFiles>();
    for (const { runtime } of ready) {
      const [logs, others] = [await this.#logsOf(runtime), await this.#othersOf(runtime)];
      pods.set(runtime.pod.uid, { logs, others, held: NOTHING_HELD });
    }
    const heldFiles = await this.#heldFiles.measure(this.#holders(ready));
    for (const [uid, held] of heldFiles) pods.set(uid, { ...pods.get(uid)!, held });
    return { root, pods };
  }

  async #logsOf({ pod, containers }: RuntimePodStatus): Promise<Map<string, FileUse>> {
    const logs = new Map<string, FileUse>();
    for (const name of new Set(containers.map((container) => container.name))) {
      const use = await filesIn(join(this.#parts.logDirectory(pod), name));
      if (use !== undefined) logs.set(name, use);
    }
    return logs;
  }

  async #othersOf({ pod, containers }: RuntimePodStatus): Promise<FileUse> {
    const { logDirectory, hostsFile, messageDirectory } = this.#parts;
    const names = new Set(containers.map(({ name }) => name));
    const directories = [logDirectory(pod), ...[...names].map((name) => messageDirectory(pod.uid, name))];
    const files = await Promise.all(directories.map(filesIn));
    return sumOf([await fileUse(hostsFile(pod.uid)), ...files.filter((use) => use !== undefined)]);
  }

  /** The pods whose processes are searched for deleted files, by UID. */
  #holders(pods: { runtime: RuntimePodStatus }[]): Map<string, Holder> {
    const holders = pods.map(({ runtime }) => [runtime.pod.uid, this.#holder(runtime)] as const);
    return new Map(holders.flatMap(([uid, holder]) => (holder === undefined ? [] : [[uid, holder]])));
  }

  /** A pod whose processes are searched for deleted files; `undefined` if its cgroup is unknown. */
  #holder({ pod: { uid }, containers }: RuntimePodStatus): Holder | undefined {
    const { hierarchy, cgroupOf, podOf } = this.#parts;
    const pod = podOf(uid);
    const cgroup = pod === undefined ? '' : cgroupOf(pod);
    if (hierarchy === undefined || cgroup === '') return undefined;
    const pids = () => cgroupPids(hierarchy, cgroup, { recursive: true, controller: 'pids' });
    const placeOf = placesOf({ podUid: uid, containerIds: containers.map(({ id }) => id) });
    const disks = { kubelet: this.#parts.rootDir, layers: this.#layersDirectory };
    const reads = this.#reads.get(uid) ?? new BoundedReads(this.#readsOfAll);
    this.#reads.set(uid, reads);
    return { pids, placeOf, disks, reads };
  }

  /** Returns a pod's disk usage, which is partial if its volumes have not been measured since `sinceMs`. */
  #diskOf(
    { runtime }: MeasuredPod,
    { disks, layers }: { disks: Disks; layers: PodDisk['layers'] },
    sinceMs = 0,
  ): PodDisk {
    const { uid } = runtime.pod;
    const pod = this.#parts.podOf(uid);
    const known = disks.pods.get(uid);
    const files = known ?? { logs: new Map(), others: sumOf([]), held: NOTHING_HELD };
    const volumes = pod === undefined ? [] : this.#volumes.of(pod);
    const isPartial = known === undefined || (pod !== undefined && this.#volumes.isPartial(pod, sinceMs));
    return { root: disks.root, layers, ...files, volumes, pod, isPartial };
  }
}

function withId({ attributes, cpu }: CriContainerStats) {
  return { id: attributes?.id ?? '', cpu };
}
