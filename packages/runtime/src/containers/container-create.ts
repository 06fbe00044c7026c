import { join, normalize } from 'node:path';
import { describeUndoFailures, PodwrightError, Undo, withTimeout, wrapError } from '@podwright/base';
import type { ImageRecord } from '@podwright/images';
import { type OciSpec, userString } from '@podwright/oci';
import { type ContainerConfig, type ContainerRecord, containerName } from '../records/container-record.ts';
import { newId } from '../records/ids.ts';
import { isReady, type SandboxRecord } from '../records/sandbox-record.ts';
import { adjustContainer } from './adjust-container.ts';
import type { ContainerContext } from './container-context.ts';
import { buildContainerSpec } from './container-specs.ts';
import { type FilesystemContext, type NewContainer, prepareFilesystem, requireImage } from './prepare-filesystem.ts';
import { resolveUser } from './resolve-user.ts';
import { parseStopSignal } from './stop-signal.ts';

/** Timeout for creating a container. Long enough for mounting large images and copying their volumes on a busy disk. */
const CREATE_TIMEOUT_MS = 120_000;

type CreateContext = FilesystemContext &
  Pick<ContainerContext, 'table' | 'events' | 'nri' | 'specs' | 'clock' | 'changes' | 'trace' | 'logger'>;

/** Creates a container, except for its process. Rolls back on failure. */
export async function createContainer(
  context: CreateContext,
  sandbox: SandboxRecord,
  config: ContainerConfig,
): Promise<ContainerRecord> {
  if (!isReady(sandbox)) {
    throw new PodwrightError(
      'failed_precondition',
      `create container ${config.name}: sandbox ${sandbox.id} is not ready`,
    );
  }
  const image = requireImage(context.images, config.image.reference);
  const record = context.table.put(newRecord(context, sandbox, { config, image }));
  return context.changes.run(record.id, () => prepareContainer(context, { record, sandbox, image }));
}

async function prepareContainer(context: CreateContext, made: NewContainer): Promise<ContainerRecord> {
  const { table, events, nri, files, failpoint, trace, logger } = context;
  const { record } = made;
  await failpoint('container-create/recorded');
  const undo = new Undo();
  try {
    undo.add('remove the files', () => files.remove(record.id));
    using signal = withTimeout(undefined, CREATE_TIMEOUT_MS, `create container ${record.config.name}`);
    await trace('make file system', () => prepareFilesystem(context, made, signal));
    await failpoint('container-create/files-made');
    const user = await userOf(context, made);
    const known = { ...made, record: { ...record, user } };
    undo.add('notify plugins', () => nri.containerRemoved(known.record));
    const committed = await trace('make specification', () => commitSpec(context, known, signal));
    const created = table.put({ ...committed.record, state: { phase: 'created' } });
    events.publish('created', created);
    await nri.containerCreated(created, committed.spec);
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

/**
 * Builds the container's OCI spec, applies plugin adjustments, and writes it to `config.json`, from which the container will be started.
 * Returns the record with the adjusted resources, and the spec.
 */
async function commitSpec(
  { specs, nri, files, failpoint }: Pick<CreateContext, 'specs' | 'nri' | 'files' | 'failpoint'>,
  made: NewContainer,
  signal: AbortSignal,
): Promise<{ record: ContainerRecord; spec: OciSpec }> {
  const sources = await specs.resolve(made.record, made.sandbox, signal);
  await failpoint('container-create/resolved');
  const adjusted = await adjustContainer({ nri, specs }, made, buildContainerSpec(sources));
  await failpoint('container-create/adjusted');
  files.commitSpec(adjusted.record.id, adjusted.spec);
  await failpoint('container-create/committed');
  return adjusted;
}

/** Looks up the user of the container's process. The container's root file system must be mounted. */
function userOf({ files }: Pick<CreateContext, 'files'>, { record, image }: NewContainer) {
  const { security } = record.config;
  return resolveUser(files.rootfs(record.id), {
    user: userString(security, image.config.config.User),
    supplementalGroups: security.supplementalGroups,
    groupsPolicy: security.supplementalGroupsPolicy,
  });
}

function newRecord(
  { clock }: Pick<CreateContext, 'clock'>,
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

/**
 * Returns the path of the container's log; '' if the sandbox or the container does not request one. Throws `invalid_argument` if the path
 * is outside the sandbox's log directory.
 */
export function logPath(directory: string, path: string): string {
  if (directory === '' || path === '') return '';
  const joined = join(directory, path);
  if (!joined.startsWith(`${normalize(directory).replace(/\/$/, '')}/`)) {
    throw new PodwrightError('invalid_argument', `use logPath "${path}": it leads out of ${directory}`);
  }
  return joined;
}
