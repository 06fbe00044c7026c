import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  describeUndoFailures,
  errorMessage,
  isNotFound,
  LOG_DIRECTORY,
  PodwrightError,
  Undo,
  withTimeout,
  wrapError,
} from '@podwright/base';
import type { ContainerRecord } from '../records/container-record.ts';
import { isReady } from '../records/sandbox-record.ts';
import { endOfFailedStart } from './container-end.ts';
import type { ContainerContext } from './container-service.ts';
import { giveStdio } from './container-stdio.ts';

/** How long the monitor and the OCI runtime may take. */
const START_TIMEOUT_MS = 120_000;

/** Makes the container's task and lets it go, unless `stopped` aborts before. */
export async function startContainer(context: ContainerContext, id: string, stopped: AbortSignal): Promise<void> {
  const { table, clock, events, exits, failpoint } = context;
  const record = table.require(id);
  if (record.state.phase !== 'created') {
    throw new PodwrightError('failed_precondition', `start container ${id}: it is ${record.state.phase}, not created`);
  }
  const sandbox = context.sandboxes.get(record.sandboxId);
  if (sandbox === undefined || !isReady(sandbox)) {
    throw new PodwrightError(
      'failed_precondition',
      `start container ${id}: its sandbox ${record.sandboxId} is not ready`,
    );
  }
  table.put({ ...record, state: { phase: 'starting' } });
  await failpoint('container-start/recorded');
  try {
    const pid = await runTask(context, record, stopped);
    await failpoint('container-start/task-started');
    events.publish('started', table.put({ ...record, state: { phase: 'running', pid, startedAtMs: clock.now() } }));
  } catch (error) {
    await context.tasks.delete(id).catch(() => undefined); // told by who removes the container, if it stays
    const end = endOfFailedStart(errorMessage(error), clock.now());
    events.publish('stopped', table.put({ ...record, state: { phase: 'exited', ...end } }));
    // a command that is not there must not read as if the container were not there
    throw wrapError(`start container ${id}`, error, isNotFound(error) ? 'unknown' : undefined);
  }
  exits.watch(id);
}

/** Creates and starts the task, or leaves none. */
async function runTask(context: ContainerContext, record: ContainerRecord, stopped: AbortSignal): Promise<number> {
  const { tasks, files, specs, sandboxes, failpoint, logger } = context;
  const sandbox = sandboxes.require(record.sandboxId);
  const { id, config, logPath } = record;
  using signal = withTimeout(stopped, START_TIMEOUT_MS, `start container ${id}`);
  if (logPath !== '') await mkdir(dirname(logPath), { recursive: true, mode: LOG_DIRECTORY });
  if (sandbox.config.userNamespace !== undefined) files.openTo(id, sandbox.config.userNamespace);
  const spec = await specs.build(record, sandbox, signal);
  const undo = new Undo();
  try {
    const { pid } = await tasks.create(
      {
        id,
        bundle: files.bundle(id),
        spec,
        terminal: config.tty,
        stdin: config.stdin,
        stdinOnce: config.stdinOnce,
        logPath,
        handler: sandbox.config.runtimeHandler,
      },
      signal,
    );
    undo.add('delete the task', () => tasks.delete(id));
    await failpoint('container-start/task-created');
    await giveStdio(pid, record, sandbox);
    await tasks.start(id);
    return pid;
  } catch (error) {
    const failures = await undo.run();
    if (failures.length > 0)
      logger.error({ container: id, left: describeUndoFailures(failures) }, 'a task is left behind');
    throw error;
  }
}
