/** Disk usage of containers: everything that they can write to, except logs and the kubelet's volumes. */
import { lstat } from 'node:fs/promises';
import { isErrno, isNotFound } from '@podwright/base';
import { mostChanges, type TreeChanges, TreeMeasures } from '@podwright/host';
import type { Snapshotter, SnapshotUsage } from '@podwright/images';
import type { RecordTable } from '@podwright/metadata';
import type { ContainerFiles } from '../containers/container-files.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxControllers } from '../sandbox/sandbox-controllers.ts';

/** Average share of one CPU spent on measuring, regardless of how many files the containers have. */
const CPU_SHARE = 0.2;
/** Unit of `st_blocks` (stat(2)). */
const BLOCK_BYTES = 512;
const NOTHING: SnapshotUsage = { sizeBytes: 0, inodes: 0 };

export type DiskUseDependencies = {
  sandboxes: RecordTable<SandboxRecord>;
  containers: RecordTable<ContainerRecord>;
  controllers: SandboxControllers;
  snapshotter: Snapshotter;
  files: ContainerFiles;
};

/**
 * A container's disk usage. `isPartial`: the container uses more than was counted. `changes` and `changedAtMs`: what changed during the
 * count, and the time of the last change. See `measureTree`.
 */
export type LayerUse = SnapshotUsage & {
  atMs: number;
  isPartial?: boolean;
  changes?: TreeChanges;
  changedAtMs?: number;
};

/** Measures containers' disk usage on demand, in at most about two seconds; see `TreeMeasures`. */
export class DiskUse {
  readonly #dependencies: DiskUseDependencies;
  readonly #measures = new TreeMeasures({ cpuShare: CPU_SHARE });

  constructor(dependencies: DiskUseDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns the usage of the container's writable layer and image volumes. For a pod's first container, this includes files shared by all
   * of the pod's containers, such as /etc/hosts, because the CRI has no field for these. `isFrozen` means that the container's processes
   * are frozen, so its files are measured right away.
   */
  async of(record: ContainerRecord, { isFrozen = false } = {}): Promise<LayerUse> {
    const { snapshotter, files } = this.#dependencies;
    const isFinal = record.state.phase === 'exited';
    const layer = await orNothing(snapshotter.layerDirectory(files.snapshotKey(record.id)));
    const directories = [...layer, ...(await files.imageVolumes(record.id))];
    const measures = directories.map((directory) => orNothing(this.#measures.of(directory, { isFinal, isFrozen })));
    const [shared, ...found] = await Promise.all([this.#sharedFiles(record), ...measures]);
    const trees = found.flat();
    const atMs = Math.min(Date.now(), ...trees.map((tree) => tree.atMs));
    // the processes of an exited container cannot have moved files during the count
    const changes = isFinal ? 'none' : mostChanges(trees.map((tree) => tree.changes));
    const changedAtMs = Math.max(0, ...trees.map((tree) => tree.changedAtMs));
    const isPartial = trees.some((tree) => tree.isPartial);
    return { ...sumOf([...shared, ...trees.map(({ usage }) => usage)]), atMs, isPartial, changes, changedAtMs };
  }

  async #sharedFiles({ id, sandboxId }: ContainerRecord): Promise<SnapshotUsage[]> {
    const { containers, sandboxes, controllers } = this.#dependencies;
    const first = containers.list().find((one) => one.sandboxId === sandboxId);
    const sandbox = sandboxes.get(sandboxId);
    if (first?.id !== id || sandbox === undefined) return [];
    const environment = controllers.find(sandbox)?.environment(sandbox);
    const shared: string[] = environment === undefined ? [] : Object.values(environment.files);
    return (await Promise.all(shared.map((path) => orNothing(fileUse(path))))).flat();
  }
}

async function fileUse(path: string): Promise<SnapshotUsage> {
  return { sizeBytes: (await lstat(path)).blocks * BLOCK_BYTES, inodes: 1 };
}

/** Returns the resolved value of `found` as a one-element list; an empty list if the files being measured have been removed meanwhile. */
async function orNothing<T>(found: Promise<T>): Promise<T[]> {
  try {
    return [await found];
  } catch (error) {
    if (isNotFound(error) || isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

function sumOf(usages: SnapshotUsage[]): SnapshotUsage {
  return usages.reduce(
    (sum, { sizeBytes, inodes }) => ({
      sizeBytes: sum.sizeBytes + sizeBytes,
      inodes: sum.inodes + inodes,
    }),
    NOTHING,
  );
}
