import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError, PRIVATE_DIRECTORY, withTimeout, wrapError } from '@podwright/base';
import { findProgram, writeFileAtomic } from '@podwright/host';
import { writeLayerDifference } from '@podwright/images';
import type { ContainerRecord } from '../records/container-record.ts';
import { copyPlainFile, openArchiveTarget } from './checkpoint-archive.ts';
import type { ContainerContext } from './container-context.ts';

/** `location`: the absolute path of the archive to write. `timeoutMs`: the timeout for the whole checkpoint. */
export type CheckpointRequest = { location: string; timeoutMs: number };

/** Names of the files in a checkpoint archive, as expected by checkpointctl, CRI-O and containerd. */
const NAMES = {
  images: 'checkpoint',
  config: 'config.dump',
  spec: 'spec.dump',
  status: 'status.dump',
  files: 'rootfs-diff.tar',
  deleted: 'deleted.files',
  log: 'container.log',
};

/**
 * Checkpoints a running container to an archive that can be restored on another host: CRIU's memory images, changed files, the OCI spec,
 * the status and the log. The container is frozen during the dump and continues afterwards. Leaves no files behind on failure. Errors:
 * `unimplemented` (CRIU or tar is not installed, or the task runtime does not support checkpoints), those of `openArchiveTarget`,
 * `deadline_exceeded`, `internal` (with CRIU's message).
 */
export async function checkpointContainer(
  context: Pick<ContainerContext, 'files' | 'tasks' | 'table'>,
  id: string,
  { location, timeoutMs, signal: parent }: CheckpointRequest & { signal: AbortSignal },
): Promise<void> {
  const what = `checkpoint container ${id}`;
  await requirePrograms(what);
  await using target = await openArchiveTarget(location);
  using signal = withTimeout(parent, timeoutMs, what);
  const work = context.files.checkpoint(id);
  try {
    await rm(work, { recursive: true, force: true });
    await mkdir(join(work, NAMES.images), { recursive: true, mode: PRIVATE_DIRECTORY });
    await collect(context, context.table.require(id), { work, signal });
    await target.write(work, signal);
  } catch (error) {
    throw wrapError(what, error);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Thaws a container whose checkpoint was interrupted by a restart of the container runtime. */
export async function endInterruptedCheckpoint(
  { files, tasks }: Pick<ContainerContext, 'files' | 'tasks'>,
  id: string,
): Promise<void> {
  const work = files.checkpoint(id);
  const found = await stat(work).catch((error) => {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (found === undefined) return;
  await tasks.thaw?.(id);
  await rm(work, { recursive: true, force: true });
}

async function requirePrograms(what: string): Promise<void> {
  for (const program of ['criu', 'tar']) {
    if (findProgram(program) === undefined) {
      throw new PodwrightError('unimplemented', `${what}: CRIU and tar are needed; install the package ${program}`);
    }
  }
}

/** Collects the files of a checkpoint archive in the directory `work`. */
async function collect(
  { tasks, files }: Pick<ContainerContext, 'files' | 'tasks'>,
  record: ContainerRecord,
  { work, signal }: { work: string; signal: AbortSignal },
): Promise<void> {
  const { id } = record;
  if (tasks.checkpoint === undefined) {
    throw new PodwrightError('unimplemented', `the task runtime ${tasks.name} does not support checkpoints`);
  }
  const path = (name: keyof typeof NAMES) => join(work, NAMES[name]);
  const layer = await files.writtenLayer(id);
  const frozen = async () => {
    await writeLayerDifference(layer, { archive: path('files'), deleted: path('deleted'), signal });
  };
  await tasks.checkpoint(id, { images: path('images'), work, frozen, signal });
  await copyPlainFile(join(files.bundle(id), 'config.json'), path('spec'));
  if (record.logPath !== '') await copyPlainFile(record.logPath, path('log'));
  await writeFileAtomic(path('config'), JSON.stringify(configDump(record)));
  await writeFileAtomic(path('status'), JSON.stringify(statusDump(record)));
}

/** Returns the image reference from the pod spec, which can be pulled on another host; `reference` may be an image ID. */
function imageName({ image }: ContainerRecord['config']): string {
  return image.userSpecified === '' ? image.reference : image.userSpecified;
}

/** Returns the checkpoint summary displayed by tools such as checkpointctl. */
function configDump({ id, config, image, createdAtMs }: ContainerRecord) {
  return {
    id,
    name: config.name,
    rootfsImage: imageName(config),
    rootfsImageRef: image.repoDigest === '' ? image.id : image.repoDigest,
    rootfsImageName: imageName(config),
    runtime: config.image.runtimeHandler,
    createdTime: new Date(createdAtMs).toISOString(),
    checkpointedTime: new Date().toISOString(),
    restoredTime: '0001-01-01T00:00:00Z', // Go's zero time
    restored: false,
  };
}

/** Returns the CRI ContainerStatus as JSON. A restore reads labels and annotations from it. */
function statusDump({ id, config, image, state, createdAtMs, logPath }: ContainerRecord) {
  const { name, attempt, labels, annotations } = config;
  const nanoseconds = (milliseconds: number) => Math.round(milliseconds) * 1e6;
  return {
    id,
    metadata: { name, attempt },
    state: 1, // CONTAINER_RUNNING
    created_at: nanoseconds(createdAtMs),
    started_at: state.phase === 'running' ? nanoseconds(state.startedAtMs) : 0,
    image: { image: imageName(config) },
    image_ref: image.id,
    labels,
    annotations,
    log_path: logPath,
  };
}
