import { join } from 'node:path';
import { type CgroupHierarchy, isDeadlineExceeded, isUnimplemented, type Logger } from '@podwright/base';
import type { CriClient, ContainerStats as CriContainerStats } from '@podwright/cri';
import type { Pod } from '../api/types.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { STATISTICS_TIMEOUT_MS } from '../limits.ts';
import { CpuRates } from './cpu-rates.ts';
import { type FileUse, fileSystemOf, filesIn, fileUse, sumOf } from './file-system-use.ts';
import { bootTime, cgroupUse, hostFacts } from './node-stats.ts';
import { fullPodStats, type MeasuredPod, type PodDisk, podCpuAndMemory, type SandboxUse } from './pod-stats.ts';
import type { ContainerStats, FsStats, NodeStats, Summary, VolumeStats } from './summary.ts';
import { VolumeUse } from './volume-use.ts';

export type SummaryParts = {
  cri: CriClient;
  nodeName: string;
  hierarchy: CgroupHierarchy | undefined;
  /** Memory of the node, in bytes. */
  memoryBytes: number;
  /** Cgroup below which pods are, '' if the runtime chooses. */
  cgroupRoot: string;
  /** The kubelet's directory. */
  rootDir: string;
  /** Where a pod's logs and its hosts file are. */
  logDirectory: (pod: RuntimePodStatus['pod']) => string;
  hostsFile: (podUid: string) => string;
  runtimePods: () => RuntimePodStatus[];
  podOf: (uid: string) => Pod | undefined;
  volumePaths: (podUid: string) => ReadonlyMap<string, string>;
  logger: Logger;
};

/** What the node and its pods use now. Calls that come at once share one answer. */
export class SummaryProvider {
  readonly #parts: SummaryParts;
  readonly #rates = new CpuRates();
  readonly #volumes: VolumeUse;
  readonly #bootTime = bootTime();
  /** Whether the runtime tells what pods use, not only containers. */
  #hasSandboxStats = true;
  #full: Promise<Summary> | undefined;
  #cpuAndMemory: Promise<Summary> | undefined;

  constructor(parts: SummaryParts) {
    this.#parts = parts;
    this.#volumes = new VolumeUse({ pathsOf: parts.volumePaths, logger: parts.logger });
  }

  /** Everything that is known. Rejects with the runtime's error. */
  full(): Promise<Summary> {
    this.#full ??= this.#readAll().finally(() => {
      this.#full = undefined;
    });
    return this.#full;
  }

  /** CPU, memory and swap alone, which is cheaper. */
  cpuAndMemory(): Promise<Summary> {
    this.#cpuAndMemory ??= this.#readCpuAndMemory().finally(() => {
      this.#cpuAndMemory = undefined;
    });
    return this.#cpuAndMemory;
  }

  /** The volumes of claims that pods in the runtime use, as far as they were measured. */
  claimVolumes(): VolumeStats[] {
    const running = this.#parts.runtimePods().filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready));
    const pods = running.flatMap(({ pod }) => this.#parts.podOf(pod.uid) ?? []);
    this.#volumes.keep(pods);
    return pods.flatMap((pod) => this.#volumes.ofClaims(pod));
  }

  /** Resolves when the walks through volumes that were begun have ended. */
  volumesMeasured(): Promise<void> {
    return this.#volumes.settled();
  }

  async #readCpuAndMemory(): Promise<Summary> {
    const [pods, own, systemContainers, { swap }] = await Promise.all([
      this.#measuredPods(),
      this.#root(),
      this.#systemContainers(),
      hostFacts(),
    ]);
    const { nodeName } = this.#parts;
    return {
      node: { nodeName, ...systemContainers, startTime: this.#bootTime, ...own, swap },
      pods: pods.map(podCpuAndMemory),
    };
  }

  async #readAll(): Promise<Summary> {
    const [measured, own, systemContainers, facts, root, runtime] = await Promise.all([
      this.#measuredPods(),
      this.#root(),
      this.#systemContainers(),
      hostFacts(),
      fileSystemOf(this.#parts.rootDir),
      this.#imageFileSystems(),
    ]);
    const layers = await this.#layers(measured);
    const pods = await Promise.all(
      measured.map(async (pod) => fullPodStats(pod, await this.#diskOf(pod, { root, layers }))),
    );
    this.#volumes.keep(measured.flatMap(({ runtime: { pod } }) => this.#parts.podOf(pod.uid) ?? []));
    const { nodeName } = this.#parts;
    const startTime = this.#bootTime;
    return { node: { nodeName, ...systemContainers, startTime, ...own, ...facts, fs: root, runtime }, pods };
  }

  #root(): Promise<Pick<NodeStats, 'cpu' | 'memory'>> {
    const { hierarchy, memoryBytes } = this.#parts;
    return cgroupUse(hierarchy, { path: '/', availableBytes: memoryBytes }, this.#rates);
  }

  /** The cgroup of all pods, where it is the kubelet's own. */
  async #systemContainers(): Promise<Pick<NodeStats, 'systemContainers'>> {
    const { hierarchy, cgroupRoot, memoryBytes } = this.#parts;
    if (cgroupRoot === '') return {};
    const path = join(cgroupRoot, 'kubepods');
    const use = await cgroupUse(hierarchy, { path, availableBytes: memoryBytes }, this.#rates);
    const pods: ContainerStats = { name: 'pods', startTime: this.#bootTime, ...use };
    return use.cpu === undefined && use.memory === undefined ? {} : { systemContainers: [pods] };
  }

  /** The pods that have a ready sandbox, each with its newest one. */
  async #measuredPods(): Promise<MeasuredPod[]> {
    const uses = await this.#sandboxUses();
    const keep = new Set(['cgroup /', `cgroup ${join(this.#parts.cgroupRoot, 'kubepods')}`]);
    const pods = this.#parts.runtimePods().flatMap((runtime) => {
      const sandbox = runtime.sandboxes.find(({ ready }) => ready);
      const use = sandbox && (uses.get(sandbox.id) ?? uses.of(runtime));
      return sandbox === undefined || use === undefined
        ? []
        : [{ runtime, sandbox, use, rates: this.#ratesOf(sandbox.id, use, keep) }];
    });
    this.#rates.keep(keep);
    return pods;
  }

  async #sandboxUses() {
    const byId = new Map<string, SandboxUse>();
    let containers: CriContainerStats[] = [];
    if (this.#hasSandboxStats) await this.#readSandboxes(byId);
    if (!this.#hasSandboxStats) {
      const { runtime } = this.#parts.cri;
      containers = (await runtime.listContainerStats({}, { timeoutMs: STATISTICS_TIMEOUT_MS })).stats;
    }
    /** The containers of a pod of which the runtime tells nothing else. */
    const of = (pod: RuntimePodStatus): SandboxUse | undefined => {
      const ids = new Set(pod.containers.map(({ id }) => id));
      const own = containers.filter(({ attributes }) => ids.has(attributes?.id ?? ''));
      return own.length === 0 ? undefined : { containers: own };
    };
    return { get: (id: string) => byId.get(id), of };
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

  /** containerd 1.6 tells of no pod at all while one has ended whose cgroup is gone. */
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

  #ratesOf(sandboxId: string, use: SandboxUse, keep: Set<string>): Map<string, number> {
    const rates = new Map<string, number>();
    const counters = [{ id: sandboxId, cpu: use.cpu }, ...use.containers.map(withId)];
    for (const { id, cpu } of counters) {
      const used = cpu?.usageCoreNanoSeconds?.value;
      if (cpu === undefined || used === undefined) continue;
      keep.add(id);
      const rate = this.#rates.rate(id, used, cpu.timestamp);
      if (rate !== undefined) rates.set(id, rate);
    }
    return rates;
  }

  async #imageFileSystems(): Promise<NodeStats['runtime']> {
    const { imageFilesystems, containerFilesystems } = await this.#parts.cri.image.imageFsInfo({});
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

  /** The file systems of all writable layers, each once. */
  async #layers(pods: MeasuredPod[]): Promise<Map<string, FsStats>> {
    const all = pods.flatMap(({ use }) => use.containers.map(({ writableLayer }) => writableLayer?.fsId?.mountpoint));
    const layers = new Map<string, FsStats>();
    for (const mountpoint of new Set(all)) {
      const stats = await this.#fileSystem(mountpoint ?? '');
      if (stats !== undefined) layers.set(mountpoint!, stats);
    }
    return layers;
  }

  /** A runtime may name a place that is not there for us. */
  async #fileSystem(mountpoint: string): Promise<FsStats | undefined> {
    return mountpoint === '' ? undefined : await fileSystemOf(mountpoint).catch(() => undefined);
  }

  async #diskOf({ runtime }: MeasuredPod, shared: Pick<PodDisk, 'root' | 'layers'>): Promise<PodDisk> {
    const { logDirectory, hostsFile, podOf } = this.#parts;
    const pod = podOf(runtime.pod.uid);
    const directory = logDirectory(runtime.pod);
    const logs = new Map<string, FileUse>();
    for (const name of new Set(runtime.containers.map((container) => container.name))) {
      const use = await filesIn(join(directory, name));
      if (use !== undefined) logs.set(name, use);
    }
    const others = sumOf([await fileUse(hostsFile(runtime.pod.uid)), (await filesIn(directory)) ?? sumOf([])]);
    return { ...shared, logs, others, volumes: pod === undefined ? [] : this.#volumes.of(pod), pod };
  }
}

function withId({ attributes, cpu }: CriContainerStats) {
  return { id: attributes?.id ?? '', cpu };
}
