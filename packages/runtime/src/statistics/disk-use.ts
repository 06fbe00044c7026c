/** Disk usage of containers: everything that they can write to, except logs and the kubelet's volumes. */
import { lstat } from 'node:fs/promises';
import { isErrno, isNotFound, SharedWork } from '@podwright/base';
import { measureTree } from '@podwright/host';
import type { Snapshotter, SnapshotUsage } from '@podwright/images';
import type { RecordTable } from '@podwright/metadata';
import type { ContainerFiles } from '../containers/container-files.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxControllers } from '../sandbox/sandbox-controllers.ts';

/** A measurement is valid for 20 times its duration, within these bounds, so measuring takes at most a twentieth of the time. */
const VALIDITY_FACTOR = 20;
const MIN_VALIDITY_MS = 500;
const MAX_VALIDITY_MS = 10_000;
/** Validity of a measurement of an exited container. Older measurements of any container are dropped. */
const LIFETIME_MS = 600_000;
const MEASURE_TIMEOUT_MS = 600_000;
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

type Measured = SnapshotUsage & { atMs: number; validUntilMs: number };

/** Measures containers on request. Calls at the same time share a measurement, and later ones use it while it is valid. */
export class DiskUse {
  readonly #dependencies: DiskUseDependencies;
  readonly #measured = new Map<string, Measured>();
  readonly #measuring = new SharedWork();

  constructor(dependencies: DiskUseDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The usage of the container's writable layer and image volumes. The first container of a pod also includes the files that all of
   * its containers share, such as /etc/hosts, because the CRI has no field for these.
   */
  async of(record: ContainerRecord): Promise<SnapshotUsage & { atMs: number }> {
    const [{ atMs, ...own }, shared] = await Promise.all([this.#own(record), this.#sharedFiles(record)]);
    return { ...sumOf([own, shared]), atMs };
  }

  async #own(record: ContainerRecord): Promise<Measured> {
    const { id } = record;
    const nowMs = Date.now();
    const known = this.#measured.get(id);
    if (known !== undefined && nowMs >= known.atMs && nowMs < known.validUntilMs) return known;
    const timeout = AbortSignal.timeout(MEASURE_TIMEOUT_MS);
    return await this.#measuring.run({ key: `measure container ${id}` }, timeout, (abandoned) =>
      this.#measure(record, abandoned),
    );
  }

  async #measure({ id, state }: ContainerRecord, signal: AbortSignal): Promise<Measured> {
    const startedAtMs = Date.now();
    const { snapshotter, files } = this.#dependencies;
    const measure = async (directory: string) => (await measureTree(directory, { signal })).usage;
    const volumes = (await files.imageVolumes(id)).map(measure);
    const usages = [snapshotter.usage(files.snapshotKey(id)), ...volumes].map(orNothing);
    const usage = sumOf(await Promise.all(usages));
    const atMs = Date.now();
    const validityMs = Math.min(MAX_VALIDITY_MS, Math.max(MIN_VALIDITY_MS, (atMs - startedAtMs) * VALIDITY_FACTOR));
    const measured = { ...usage, atMs, validUntilMs: atMs + (state.phase === 'exited' ? LIFETIME_MS : validityMs) };
    for (const [old, one] of this.#measured) if (atMs - one.atMs > LIFETIME_MS) this.#measured.delete(old);
    this.#measured.set(id, measured);
    return measured;
  }

  async #sharedFiles({ id, sandboxId }: ContainerRecord): Promise<SnapshotUsage> {
    const { containers, sandboxes, controllers } = this.#dependencies;
    const first = containers.list().find((one) => one.sandboxId === sandboxId);
    const sandbox = sandboxes.get(sandboxId);
    if (first?.id !== id || sandbox === undefined) return NOTHING;
    const environment = controllers.find(sandbox)?.environment(sandbox);
    const shared: string[] = environment === undefined ? [] : Object.values(environment.files);
    return sumOf(await Promise.all(shared.map((path) => orNothing(fileUse(path)))));
  }
}

async function fileUse(path: string): Promise<SnapshotUsage> {
  return { sizeBytes: (await lstat(path)).blocks * BLOCK_BYTES, inodes: 1 };
}

/** Counts files that are removed during the measurement as 0. */
function orNothing(usage: Promise<SnapshotUsage>): Promise<SnapshotUsage> {
  return usage.catch((error: unknown) => {
    if (isNotFound(error) || isErrno(error, 'ENOENT')) return NOTHING;
    throw error;
  });
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
