import { chown, stat } from 'node:fs/promises';
import {
  describeUndoFailures,
  isErrno,
  isNotFound,
  PodwrightError,
  shownError,
  Undo,
  withTimeout,
  wrapError,
} from '@podwright/base';
import type { OciSpec } from '@podwright/oci';
import { hostIdOf } from '@podwright/system';
import type { ContainerRecord } from '../records/container-record.ts';
import { isReady, type SandboxRecord } from '../records/sandbox-record.ts';
import { makeLogDirectory } from '../tasks/log-directory.ts';
import type { ContainerContext } from './container-context.ts';
import { endOfFailedStart } from './container-end.ts';
import { checkNestedMounts } from './nested-mounts.ts';
import { checkPidTarget } from './resolve-namespaces.ts';

/** Timeout for conmon and the OCI runtime to start a container. */
const START_TIMEOUT_MS = 120_000;

type StartContext = Pick<
  ContainerContext,
  'table' | 'sandboxes' | 'files' | 'tasks' | 'clock' | 'events' | 'nri' | 'exits' | 'failpoint' | 'trace' | 'logger'
>;

/**
 * Runs the container's saved OCI spec as a task. `stopped` aborts the start. If the container fails to start, it is recorded as exited. If
 * its task then cannot be deleted, the error is logged; the task is deleted when the container is removed.
 */
export async function startContainer(context: StartContext, id: string, stopped: AbortSignal): Promise<void> {
  const { table, clock, events, nri, exits, failpoint } = context;
  const record = table.require(id);
  if (record.state.phase !== 'created') {
    throw new PodwrightError('failed_precondition', `start container ${id}: it is ${record.state.phase}, not created`);
  }
  const sandbox = requireReadySandbox(context, record);
  table.put({ ...record, state: { phase: 'starting' } });
  await failpoint('container-start/recorded');
  const undo = new Undo();
  try {
    const pid = await runTask(context, { record, sandbox, stopped, undo });
    await failpoint('container-start/task-started');
    events.publish('started', table.put({ ...record, state: { phase: 'running', pid, startedAtMs: clock.now() } }));
  } catch (error) {
    await removeTask(context, id, undo);
    const end = endOfFailedStart(shownError(error), clock.now());
    const exited = table.put({ ...record, state: { phase: 'exited', ...end } });
    events.publish('stopped', exited);
    await nri.containerExited(exited);
    // `not_found` here means that the command does not exist; report `unknown`, because clients would conclude that the container does not
    // exist
    throw wrapError(`start container ${id}`, error, isNotFound(error) ? 'unknown' : undefined);
  }
  exits.watch(id);
  await nri.containerStarted(table.require(id));
}

function requireReadySandbox({ sandboxes }: Pick<StartContext, 'sandboxes'>, record: ContainerRecord): SandboxRecord {
  const sandbox = sandboxes.get(record.sandboxId);
  if (sandbox !== undefined && isReady(sandbox)) return sandbox;
  throw new PodwrightError(
    'failed_precondition',
    `start container ${record.id}: its sandbox ${record.sandboxId} is not ready`,
  );
}

type Start = { record: ContainerRecord; sandbox: SandboxRecord; stopped: AbortSignal; undo: Undo };

/** Creates and starts the container's task. Registers the task's deletion with `undo`. */
async function runTask(context: StartContext, { record, sandbox, stopped, undo }: Start): Promise<number> {
  const { tasks, files, table, nri, failpoint, trace } = context;
  const { id, config, logPath } = record;
  using signal = withTimeout(stopped, START_TIMEOUT_MS, `start container ${id}`);
  const spec = requireSpec(files, id);
  checkPidTarget(record, spec, table);
  if (logPath !== '') await makeLogDirectory(logPath);
  if (sandbox.config.userNamespace !== undefined) files.grantTraversal(id, sandbox.config.userNamespace);
  undo.add('delete the task', () => tasks.delete(id));
  const task = {
    id,
    bundle: files.bundle(id),
    spec,
    terminal: config.tty,
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    logPath,
    handler: sandbox.config.runtimeHandler,
  };
  const { pid } = await trace('create task', () => tasks.create(task, signal));
  await failpoint('container-start/task-created');
  checkNestedMounts(pid, spec);
  await chownStdio(pid, record, sandbox);
  await nri.containerStarting({ ...record, state: { phase: 'starting' } }, pid);
  await failpoint('container-start/announced');
  await trace('start task', () => tasks.start(id));
  return pid;
}

/** Returns the saved OCI spec. Builds of version 0.1.0 from before November 2026 did not save it. */
function requireSpec(files: StartContext['files'], id: string): OciSpec {
  const spec = files.spec(id);
  if (spec !== undefined) return spec;
  throw new PodwrightError(
    'failed_precondition',
    `${files.bundle(id)} has no config.json, as an earlier version of Podwright created the container; ` +
      'remove it and create it again',
  );
}

async function removeTask({ logger }: Pick<StartContext, 'logger'>, id: string, undo: Undo): Promise<void> {
  const failures = await undo.run();
  if (failures.length === 0) return;
  logger.error(
    { container: id, left: describeUndoFailures(failures) },
    'the task of a failed start could not be deleted',
  );
}

/**
 * Changes the owner of a created container's stdio pipes to the container's user, so that its process can open /dev/stdout. OCI runtimes do
 * this themselves, except in a user namespace, where the pipes' owner is not mapped. Streams that are not pipes are left unchanged.
 */
async function chownStdio(
  pid: number,
  { user }: Pick<ContainerRecord, 'user'>,
  { config: { userNamespace } }: Pick<SandboxRecord, 'config'>,
): Promise<void> {
  if (userNamespace === undefined) return;
  const uid = hostIdOf(userNamespace.uids, user.uid);
  const gid = hostIdOf(userNamespace.gids, user.gid);
  if (uid === undefined || gid === undefined) return;
  for (const descriptor of [0, 1, 2]) {
    try {
      const path = `/proc/${pid}/fd/${descriptor}`;
      if ((await stat(path)).isFIFO()) await chown(path, uid, gid);
    } catch (error) {
      // ENOENT: the process has exited, or has closed the stream
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }
}
