/** Measures pods' files other than volumes and container layers: logs, hosts files, termination messages, deleted files. */
import { join } from 'node:path';
import { CachedReading, WorkBudget } from '@podwright/base';
import { type CgroupHierarchy, cgroupPids, type FileUse, filesIn, fileUse, sumOfUses } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { BoundedReads, ReadsOfProcess } from '@podwright/system/open-files';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { LEAST_USAGE_WINDOW_MS } from '../usage/limits.ts';
import { fileSystemOf } from './file-system-use.ts';
import { type HeldFiles, HeldFilesOfPods, type Holder, heldFiles, NOTHING_HELD, placesOf } from './held-files.ts';
import type { ImageFileSystems } from './image-file-systems.ts';
import { STATISTICS_CACHE } from './limits.ts';
import type { PodDisk } from './pod-stats.ts';
import { readyPods } from './ready-pods.ts';
import type { FsStats } from './summary.ts';

export type PodFilesParts = {
  hierarchy: CgroupHierarchy | undefined;
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
};

type FilesOfPod = Pick<PodDisk, 'logs' | 'others' | 'held'>;

/** Statistics of the file system that contains the kubelet's directory, and the files of pods by UID. */
export type PodFilesOnDisk = { root: FsStats; pods: ReadonlyMap<string, FilesOfPod> };

export const NO_FILES_OF_POD: FilesOfPod = { logs: new Map(), others: sumOfUses([]), held: NOTHING_HELD };

/** The files of all ready pods, cached for ten seconds. */
export class PodFiles {
  readonly #parts: PodFilesParts;
  readonly #images: Pick<ImageFileSystems, 'findLayers' | 'layersDirectory'>;
  readonly #heldFiles = new HeldFilesOfPods<string>();
  readonly #heldInEmptyDirs = new HeldFilesOfPods<string>();
  readonly #readsOfAll = new ReadsOfProcess();
  /** File read limiters, by pod UID. */
  #reads = new Map<string, BoundedReads>();
  readonly #files = new CachedReading(() => this.#read(), STATISTICS_CACHE);

  constructor(parts: PodFilesParts, images: Pick<ImageFileSystems, 'findLayers' | 'layersDirectory'>) {
    this.#parts = parts;
    this.#images = images;
  }

  /** Returns the files of all ready pods; if `fresh` is set, measures them now. */
  get({ fresh } = { fresh: false }): Promise<PodFilesOnDisk> {
    const isGood = ({ pods }: PodFilesOnDisk, ageMs: number) =>
      ageMs < LEAST_USAGE_WINDOW_MS || this.#ready().every(({ runtime }) => pods.has(runtime.pod.uid));
    return fresh ? this.#files.takeNew() : this.#files.get(isGood);
  }

  /** Returns the files of one pod, measured now within `timeoutMs`. */
  async ofPod(runtime: RuntimePodStatus, { timeoutMs }: { timeoutMs: number }): Promise<FilesOfPod> {
    const deadlineMs = performance.now() + timeoutMs;
    const [logs, others] = await Promise.all([this.#measureLogs(runtime), this.#measureOthers(runtime)]);
    const holder = this.#holder(runtime);
    if (holder === undefined) return { logs, others, held: NOTHING_HELD };
    const { pids, ...options } = holder;
    const { isInterrupted, ...held } = await heldFiles(pids, options, new WorkBudget(timeoutMs, { deadlineMs }));
    return { logs, others, held: { ...held, isPartial: held.isPartial || isInterrupted } };
  }

  /** The cached files of all ready pods, which may be out of date; `undefined` if they have not been measured yet. */
  get last(): PodFilesOnDisk | undefined {
    return this.#files.last;
  }

  /** Returns the usage of a pod's log files by container name, from the cache if possible. */
  async logsOf(runtime: RuntimePodStatus): Promise<FilesOfPod['logs']> {
    return this.last?.pods.get(runtime.pod.uid)?.logs ?? (await this.#measureLogs(runtime));
  }

  /**
   * Returns the usage of deleted files that the given pods currently hold in emptyDirs, by pod UID and volume name. Runs one round of
   * searches.
   */
  async heldInEmptyDirs(podUids: ReadonlySet<string>): Promise<Map<string, HeldFiles['emptyDirs']>> {
    const pods = this.#ready().filter(({ runtime }) => podUids.has(runtime.pod.uid));
    const found = await this.#heldInEmptyDirs.measure(this.#holders(pods));
    return new Map([...found].map(([uid, { emptyDirs }]) => [uid, emptyDirs]));
  }

  #ready() {
    return readyPods(this.#parts.runtimePods());
  }

  async #read(): Promise<PodFilesOnDisk> {
    const root = await fileSystemOf(this.#parts.rootDir);
    await this.#images.findLayers();
    const ready = this.#ready();
    const uids = new Set(ready.map(({ runtime }) => runtime.pod.uid));
    this.#reads = new Map([...this.#reads].filter(([uid]) => uids.has(uid)));
    const pods = new Map<string, FilesOfPod>();
    for (const { runtime } of ready) {
      const [logs, others] = [await this.#measureLogs(runtime), await this.#measureOthers(runtime)];
      pods.set(runtime.pod.uid, { logs, others, held: NOTHING_HELD });
    }
    const heldFiles = await this.#heldFiles.measure(this.#holders(ready));
    for (const [uid, held] of heldFiles) pods.set(uid, { ...pods.get(uid)!, held });
    return { root, pods };
  }

  async #measureLogs({ pod, containers }: RuntimePodStatus): Promise<Map<string, FileUse>> {
    const logs = new Map<string, FileUse>();
    for (const name of new Set(containers.map((container) => container.name))) {
      const use = await filesIn(join(this.#parts.logDirectory(pod), name));
      if (use !== undefined) logs.set(name, use);
    }
    return logs;
  }

  async #measureOthers({ pod, containers }: RuntimePodStatus): Promise<FileUse> {
    const { logDirectory, hostsFile, messageDirectory } = this.#parts;
    const names = new Set(containers.map(({ name }) => name));
    const directories = [logDirectory(pod), ...[...names].map((name) => messageDirectory(pod.uid, name))];
    const files = await Promise.all(directories.map(filesIn));
    return sumOfUses([await fileUse(hostsFile(pod.uid)), ...files.filter((use) => use !== undefined)]);
  }

  /** The pods to search for held deleted files, by UID. */
  #holders(pods: { runtime: RuntimePodStatus }[]): Map<string, Holder> {
    const holders = pods.map(({ runtime }) => [runtime.pod.uid, this.#holder(runtime)] as const);
    return new Map(holders.flatMap(([uid, holder]) => (holder === undefined ? [] : [[uid, holder]])));
  }

  /** A pod to search for held deleted files; `undefined` if its cgroup is unknown. */
  #holder({ pod: { uid }, containers }: RuntimePodStatus): Holder | undefined {
    const { hierarchy, cgroupOf, podOf } = this.#parts;
    const pod = podOf(uid);
    const cgroup = pod === undefined ? '' : cgroupOf(pod);
    if (hierarchy === undefined || cgroup === '') return undefined;
    const pids = () => cgroupPids(hierarchy, cgroup, { recursive: true, controller: 'pids' });
    const placeOf = placesOf({ podUid: uid, containerIds: containers.map(({ id }) => id) });
    const disks = { kubelet: this.#parts.rootDir, layers: this.#images.layersDirectory };
    const reads = this.#reads.get(uid) ?? new BoundedReads(this.#readsOfAll);
    this.#reads.set(uid, reads);
    return { pids, placeOf, disks, reads };
  }
}
