import { readFileSync } from 'node:fs';
import type { Logger } from '@podwright/base';
import {
  type CgroupHierarchy,
  type CgroupStats,
  CpuSamples,
  cgroupExists,
  cgroupPathOf,
  cgroupPids,
  type InterfaceUse,
  isFrozenCgroup,
  parseInterfaces,
  readCgroupStats,
  scopeOf,
} from '@podwright/host';
import { type System, withNetworkNamespace } from '@podwright/system';
import { podCgroup } from '../containers/cgroups-path.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { TaskRuntime } from '../tasks/task-runtime.ts';
import { DiskUse, type DiskUseDependencies } from './disk-use.ts';
import { blockDeviceName, FilesystemOf } from './filesystem-use.ts';
import { readProcessUse } from './process-use.ts';
import type { ContainerDetails, ContainerUse, SandboxUse, Statistics } from './statistics.ts';

/** Child cgroup that crun puts a container into, within the container's systemd scope (crun(1), run.oci.systemd.subgroup). */
const CRUN_SUBGROUP = 'container';

export type CgroupStatisticsDependencies = DiskUseDependencies & {
  system: System;
  logger: Logger;
  cgroups: CgroupHierarchy;
  taskCgroup: (sandbox: SandboxRecord, taskId: string) => string;
  /** Queried for the resource usage of tasks that have no cgroup on this host, such as those in virtual machines. */
  tasks: Pick<TaskRuntime, 'use'>;
  root: string;
};

/** Reads statistics from cgroups, snapshots and network namespaces' counters. */
export class CgroupStatistics implements Statistics {
  readonly layersMountpoint: string;
  readonly #dependencies: CgroupStatisticsDependencies;
  readonly #filesystem: FilesystemOf;
  readonly #samples = new CpuSamples();
  readonly #disk: DiskUse;

  constructor(dependencies: CgroupStatisticsDependencies) {
    this.#dependencies = dependencies;
    this.layersMountpoint = dependencies.snapshotter.directory ?? dependencies.root;
    this.#disk = new DiskUse(dependencies);
    this.#filesystem = new FilesystemOf(this.layersMountpoint);
  }

  async ofContainer(record: ContainerRecord): Promise<ContainerUse> {
    const path = record.state.phase === 'exited' ? undefined : await this.#cgroupPath(record);
    const [cgroup, layer] = await Promise.all([
      path === undefined ? { readAtMs: Date.now() } : this.#taskUse(record.id, path),
      this.#disk.of(record, { isFrozen: path !== undefined && isFrozenCgroup(this.#dependencies.cgroups, path) }),
    ]);
    return { cgroup, nanoCores: this.#samples.nanoCores(record.id, cgroup), layer };
  }

  async detailsOf(record: ContainerRecord): Promise<ContainerDetails> {
    const { cgroups } = this.#dependencies;
    const path = await this.#cgroupPath(record);
    const pids = path === undefined ? [] : await cgroupPids(cgroups, path, { recursive: true, controller: 'pids' });
    const [use, processes, filesystem] = await Promise.all([
      this.ofContainer(record),
      readProcessUse(pids, record.state.phase === 'running' ? record.state.pid : 0),
      this.#filesystem.read(),
    ]);
    const devices = (use.cgroup.io ?? []).map(async (io) => ({ ...io, name: await blockDeviceName(io) }));
    return { ...use, cgroupPath: path ?? '', processes, filesystem, devices: await Promise.all(devices) };
  }

  async ofSandbox(record: SandboxRecord): Promise<SandboxUse> {
    const { cgroups, controllers } = this.#dependencies;
    const { cgroupParent } = record.config;
    const ownUse = record.state.phase === 'ready' ? await controllers.find(record)?.use?.(record) : undefined;
    const cgroup = ownUse ?? (cgroupParent === '' ? undefined : readCgroupStats(cgroups, podCgroup(cgroupParent)));
    const nanoCores = cgroup === undefined ? undefined : this.#samples.nanoCores(record.id, cgroup);
    return { atMs: Date.now(), cgroup, nanoCores, interfaces: this.#interfaces(record) };
  }

  async #taskUse(id: string, path: string): Promise<CgroupStats> {
    const { cgroups, tasks } = this.#dependencies;
    const counted = readCgroupStats(cgroups, path);
    if (counted.cpu !== undefined || counted.memory !== undefined) return counted;
    return (await tasks.use?.(id)) ?? counted;
  }

  /** Returns the path of the container's cgroup; undefined if its sandbox has been removed. */
  async #cgroupPath(record: ContainerRecord): Promise<string | undefined> {
    const { sandboxes, taskCgroup, cgroups } = this.#dependencies;
    const sandbox = sandboxes.get(record.sandboxId);
    if (sandbox === undefined) return undefined;
    const path = record.cgroupsPath === undefined ? taskCgroup(sandbox, record.id) : cgroupPathOf(record.cgroupsPath);
    const inner = `${path}/${CRUN_SUBGROUP}`;
    return scopeOf(path) !== undefined && (await cgroupExists(cgroups, inner)) ? inner : path;
  }

  #interfaces(record: SandboxRecord): InterfaceUse[] {
    const netns = this.#dependencies.controllers.find(record)?.netnsPath(record);
    if (netns === undefined || record.state.phase !== 'ready') return [];
    const text = withNetworkNamespace(this.#dependencies, netns, () =>
      readFileSync('/proc/thread-self/net/dev', 'utf8'),
    );
    return parseInterfaces(text).filter(({ name }) => name !== 'lo');
  }
}
