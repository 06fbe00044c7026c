import { ByteBudget, isNotFound, withTimeout, wrapError } from '@podwright/base';
import {
  fitExecOutput,
  MAX_EXEC_OUTPUT_TOTAL_BYTES,
  outputLimitOf,
  type RuntimeHandlers,
  requireCommand,
  requireStreams,
} from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/**
 * ExecSync: runs a command in the container and waits for it to exit. `timeout` is in seconds; 0 means no timeout. The command is also
 * killed if the client disconnects or its deadline expires. The output is truncated at the response size limit, at the client's own limit,
 * or when the combined output of concurrent calls reaches a limit.
 */
export function containerExecSync({
  containers,
  tasks,
}: Pick<CriServices, 'containers' | 'tasks'>): RuntimeHandlers['execSync'] {
  const budget = new ByteBudget(MAX_EXEC_OUTPUT_TOTAL_BYTES);
  return async ({ containerId, cmd, timeout }, context) => {
    const { signal } = context;
    const { id } = containers.requireRunning(containerId);
    requireCommand(cmd);
    const timeoutMs = Number(timeout) * 1000;
    using limit = timeoutMs > 0 ? withTimeout(signal, timeoutMs, 'wait for the command') : undefined;
    using memory = budget.open();
    const options = { signal: limit ?? signal, maxOutputBytes: outputLimitOf(context), memory };
    const result = await tasks.execSync(id, cmd, options).catch((error: unknown) => {
      // `not_found` here means that the command does not exist; report `unknown`, because clients would conclude that the container does
      // not exist
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
