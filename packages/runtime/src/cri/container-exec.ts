import { isNotFound, PodwrightError, wrapError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from './services.ts';

/** Longest timer of Node.js. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** ExecSync: runs a command in the container to its end; `timeout` in seconds, 0 for none. */
export function containerExecSync({
  containers,
  tasks,
}: Pick<CriServices, 'containers' | 'tasks'>): RuntimeHandlers['execSync'] {
  return async ({ containerId, cmd, timeout }) => {
    const { id } = containers.requireRunning(containerId);
    requireCommand(cmd);
    const timeoutMs = Math.min(Math.max(0, Number(timeout) * 1000), MAX_TIMEOUT_MS);
    return await tasks.execSync(id, cmd, timeoutMs).catch((error: unknown) => {
      // a command that is not there must not read as if the container were not there
      throw isNotFound(error) && containers.find(id) ? wrapError(`exec in container ${id}`, error, 'unknown') : error;
    });
  };
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
