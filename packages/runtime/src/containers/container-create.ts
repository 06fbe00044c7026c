import { join, normalize } from 'node:path';
import { describeUndoFailures, PodwrightError, Undo, withTimeout, wrapError } from '@podwright/base';
import type { ImageRecord } from '../images/image-service.ts';
import { newId } from '../metadata/ids.ts';
import { isReady, type SandboxRecord } from '../sandbox/sandbox-record.ts';
import { type ContainerConfig, type ContainerRecord, containerName } from './container-record.ts';
import type { ContainerContext } from './container-service.ts';
import { parseStopSignal } from './stop-signal.ts';

/** Mounts and volumes of big images take a while on a busy disk. */
const CREATE_TIMEOUT_MS = 120_000;

/** Prepares all that a container needs but its process, or leaves nothing. */
export async function createContainer(
  context: ContainerContext,
  sandbox: SandboxRecord,
  config: ContainerConfig,
): Promise<ContainerRecord> {
  if (!isReady(sandbox)) {
    throw new PodwrightError(
      'failed_precondition',
      `create container ${config.name}: sandbox ${sandbox.id} is not ready`,
    );
  }
  const image = requireImage(context, config.image.reference);
  const record = context.table.put(newRecord(context, sandbox, { config, image }));
  return context.changes.run(record.id, () => fill(context, { record, sandbox, image }));
}

/** A container on its way: its record, where it goes, what it is made from. */
type NewContainer = { record: ContainerRecord; sandbox: SandboxRecord; image: ImageRecord };

async function fill(context: ContainerContext, made: NewContainer): Promise<ContainerRecord> {
  const { table, events, files, failpoint, logger } = context;
  const { record } = made;
  await failpoint('container-create/recorded');
  const undo = new Undo();
  try {
    undo.add('remove the files', () => files.remove(record.id));
    const user = await makeFiles(context, made);
    await failpoint('container-create/files-made');
    const created = table.put({ ...record, user, state: { phase: 'created' } });
    events.publish('created', created);
    return created;
  } catch (error) {
    const failures = await undo.run();
    if (failures.length === 0) table.delete(record.id);
    else
      logger.error(
        { container: record.id, left: describeUndoFailures(failures) },
        'container could not be rolled back',
      );
    throw wrapError(`create container ${record.config.name} in sandbox ${record.sandboxId}`, error);
  }
}

/** Makes the root file system, the volumes and the images' mounts, and tries the specification once. */
async function makeFiles(
  { files, specs, failpoint, images }: ContainerContext,
  { record, sandbox, image }: NewContainer,
): Promise<ContainerRecord['user']> {
  using signal = withTimeout(undefined, CREATE_TIMEOUT_MS, `create container ${record.config.name}`);
  await files.prepareRootfs(record.id, image);
  await failpoint('container-create/rootfs-mounted');
  const imageMounts = record.config.mounts.filter((mount) => mount.image !== '');
  for (const [index, mount] of imageMounts.entries()) {
    if (!mount.readonly) {
      throw new PodwrightError(
        'invalid_argument',
        `mount image ${mount.image} at ${mount.containerPath}: it can be read-only only`,
      );
    }
    await files.mountImage(record.id, index, {
      image: requireImage({ images }, mount.image),
      subPath: mount.imageSubPath,
    });
  }
  for (const [index, path] of specs.imageVolumes(record).entries()) await files.makeVolume(record.id, index, path);
  const user = await specs.resolveUser(record, image);
  await specs.build({ ...record, user }, sandbox, signal);
  return user;
}

function newRecord(
  { clock }: ContainerContext,
  sandbox: SandboxRecord,
  { config, image }: { config: ContainerConfig; image: ImageRecord },
): ContainerRecord {
  const id = newId();
  return {
    id,
    name: containerName(sandbox.id, config),
    sandboxId: sandbox.id,
    config,
    image: { id: image.id, repoDigest: image.repoDigests[0] ?? '', config: image.config.config },
    user: { uid: 0, gid: 0, additionalGids: [] },
    logPath: logPath(sandbox.config.logDirectory, config.logPath),
    stopSignal: parseStopSignal(config.stopSignal === '' ? (image.config.config.StopSignal ?? '') : config.stopSignal),
    state: { phase: 'creating' },
    createdAtMs: clock.now(),
  };
}

/** Where the log goes; '' if the sandbox or the container wants none. Nothing may lead out of the sandbox's directory. */
function logPath(directory: string, path: string): string {
  if (directory === '' || path === '') return '';
  const joined = join(directory, path);
  if (!joined.startsWith(`${normalize(directory).replace(/\/$/, '')}/`)) {
    throw new PodwrightError('invalid_argument', `use log path "${path}": it leads out of ${directory}`);
  }
  return joined;
}

function requireImage({ images }: Pick<ContainerContext, 'images'>, reference: string): ImageRecord {
  const image = images.find(reference);
  if (image === undefined) throw new PodwrightError('not_found', `image "${reference}" not found; pull it first`);
  return image;
}
