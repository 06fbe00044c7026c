import { isNotFound, PodwrightError, withTimeout, wrapError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { MAX_TIMER_MS } from '../../time-limits.ts';
import type { CriServices } from '../services/services.ts';

/** A CRI message has 16 MiB at most; some room is left for what is around the output. */
const MAX_OUTPUT_BYTES = (16 << 20) - 1024;

/**
 * ExecSync: runs a command in the container to its end; `timeout` in seconds, 0 for none. It is killed, too, when its caller
 * waits no more: the client has gone, or its own deadline has passed.
 */
export function containerExecSync({
  containers,
  tasks,
}: Pick<CriServices, 'containers' | 'tasks'>): RuntimeHandlers['execSync'] {
  return async ({ containerId, cmd, timeout }, { signal }) => {
    const { id } = containers.requireRunning(containerId);
    requireCommand(cmd);
    const timeoutMs = Math.min(Number(timeout) * 1000, MAX_TIMER_MS);
    using limit = timeoutMs > 0 ? withTimeout(signal, timeoutMs, 'wait for the command') : undefined;
    const result = await tasks.execSync(id, cmd, limit ?? signal).catch((error: unknown) => {
      // a command that is not there must not read as if the container were not there
      throw isNotFound(error) && containers.find(id) ? wrapError(`exec in container ${id}`, error, 'unknown') : error;
    });
    return { ...result, ...fitInto(MAX_OUTPUT_BYTES, result) };
  };
}

/** Output cut to what one answer takes, so that a command which writes much still tells its exit code. */
export function fitInto(
  maxBytes: number,
  { stdout, stderr }: { stdout: Buffer; stderr: Buffer },
): { stdout: Buffer; stderr: Buffer } {
  const kept = stdout.subarray(0, maxBytes - Math.min(stderr.length, maxBytes / 2));
  return { stdout: kept, stderr: stderr.subarray(0, maxBytes - kept.length) };
}

/** Exec: a URL at which the command's streams are. */
export function containerExec({
  containers,
  streaming,
}: Pick<CriServices, 'containers' | 'streaming'>): RuntimeHandlers['exec'] {
  return async (request) => {
    const { id } = containers.requireRunning(request.containerId);
    requireCommand(request.cmd);
    if (request.tty && request.stderr) {
      throw new PodwrightError('invalid_argument', `exec in container ${id}: a terminal has no stderr of its own`);
    }
    if (!request.stdin && !request.stdout && !request.stderr) {
      throw new PodwrightError(
        'invalid_argument',
        `exec in container ${id}: one of stdin, stdout, stderr must be asked for`,
      );
    }
    return { url: await streaming.exec({ ...request, containerId: id }) };
  };
}

function requireCommand(command: string[]): void {
  if (command.length === 0) throw new PodwrightError('invalid_argument', 'exec: the command is empty');
}
