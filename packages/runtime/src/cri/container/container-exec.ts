import { isNotFound, withTimeout, wrapError } from '@podwright/base';
import { fitExecOutput, type RuntimeHandlers, requireCommand, requireStreams } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/**
 * ExecSync: runs a command in the container and waits for it to exit. `timeout` is in seconds; 0 means no timeout. The command is also
 * killed if the client disconnects or its deadline passes.
 */
export function containerExecSync({
  containers,
  tasks,
}: Pick<CriServices, 'containers' | 'tasks'>): RuntimeHandlers['execSync'] {
  return async ({ containerId, cmd, timeout }, { signal }) => {
    const { id } = containers.requireRunning(containerId);
    requireCommand(cmd);
    const timeoutMs = Number(timeout) * 1000;
    using limit = timeoutMs > 0 ? withTimeout(signal, timeoutMs, 'wait for the command') : undefined;
    const result = await tasks.execSync(id, cmd, limit ?? signal).catch((error: unknown) => {
      // to clients, `not_found` would mean a missing container, not a missing command
      throw isNotFound(error) && containers.find(id) ? wrapError(`exec in container ${id}`, error, 'unknown') : error;
    });
    return { ...result, ...fitExecOutput(result) };
  };
}

/** Exec: returns a URL for the command's stdin, stdout and stderr streams. */
export function containerExec({
  containers,
  streaming,
}: Pick<CriServices, 'containers' | 'streaming'>): RuntimeHandlers['exec'] {
  return async (request) => {
    const { id } = containers.requireRunning(request.containerId);
    requireCommand(request.cmd);
    requireStreams(`exec in container ${id}`, request);
    return { url: await streaming.exec({ ...request, containerId: id }) };
  };
}
