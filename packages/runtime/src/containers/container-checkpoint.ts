import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  findProgram,
  isErrno,
  PodwrightError,
  PRIVATE_DIRECTORY,
  withTimeout,
  wrapError,
  writeFileAtomic,
} from '@podwright/base';
import type { ContainerRecord } from '../records/container-record.ts';
import { copyPlainFile, openArchivePlace } from './checkpoint-archive.ts';
import type { ContainerContext } from './container-context.ts';
import { writeLayerDifference } from './layer-difference.ts';

/** Absolute path of the archive to write, and how long it may take. */
export type CheckpointRequest = { location: string; timeoutMs: number };

/** What an archive holds, by the names that checkpointctl, CRI-O and containerd know. */
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
 * Writes a running container into an archive that can be restored elsewhere: CRIU's images of its memory, the files that
 * it has changed, its specification, status and log. The container stands still meanwhile and then goes on; on failure
 * nothing is left. Errors: `unimplemented` (CRIU is missing, or the task runtime cannot), those of `openArchivePlace`,
 * `deadline_exceeded`, `internal` (CRIU's message).
 */
export async function checkpointContainer(
  context: Pick<ContainerContext, 'files' | 'tasks' | 'table'>,
  id: string,
  { location, timeoutMs, signal: parent }: CheckpointRequest & { signal: AbortSignal },
): Promise<void> {
  const what = `checkpoint container ${id}`;
  await requirePrograms(what);
  await using place = await openArchivePlace(location);
  using signal = withTimeout(parent, timeoutMs, what);
  const work = context.files.checkpoint(id);
  try {
    await rm(work, { recursive: true, force: true });
    await mkdir(join(work, NAMES.images), { recursive: true, mode: PRIVATE_DIRECTORY });
    await collect(context, context.table.require(id), { work, signal });
    await place.write(work, signal);
  } catch (error) {
    throw wrapError(what, error);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Lets a container go on that a restart left frozen in the middle of a checkpoint. */
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

/** Fills the directory `work` with all that goes into the archive. */
async function collect(
  { tasks, files }: Pick<ContainerContext, 'files' | 'tasks'>,
  record: ContainerRecord,
  { work, signal }: { work: string; signal: AbortSignal },
): Promise<void> {
  const { id } = record;
  if (tasks.checkpoint === undefined) {
    throw new PodwrightError('unimplemented', `the task runtime ${tasks.name} writes no checkpoints`);
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

/** What another host can pull: a kubelet asks for the image by its id, and says beside it what the pod has. */
function imageName({ image }: ContainerRecord['config']): string {
  return image.userSpecified === '' ? image.reference : image.userSpecified;
}

/** What tools show of a checkpoint without looking into it. */
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
    restoredTime: '0001-01-01T00:00:00Z', // Go's zero time: never
    restored: false,
  };
}

/** The CRI's status in the names of its own JSON, of which a restore takes labels and annotations. */
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
