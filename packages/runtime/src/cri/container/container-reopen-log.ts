import { waitFor, withTimeout } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { pathExists } from '@podwright/host';
import { REOPEN_LOG_TIMEOUT_MS } from '../../time-limits.ts';
import type { CriServices } from '../services/services.ts';

/** ReopenContainerLog: reopens the log file after the kubelet has rotated it. Responds once the new log file exists. */
export function containerReopenLog({
  containers,
  tasks,
}: Pick<CriServices, 'containers' | 'tasks'>): RuntimeHandlers['reopenContainerLog'] {
  return async ({ containerId }, { signal }) => {
    const { id, logPath } = containers.requireRunning(containerId);
    await tasks.reopenLog(id, logPath);
    if (logPath !== '') await waitForFile(logPath, signal);
    return {};
  };
}

async function waitForFile(path: string, parent: AbortSignal): Promise<void> {
  using signal = withTimeout(parent, REOPEN_LOG_TIMEOUT_MS, `reopen log ${path}`);
  const found = async () => (await pathExists(path)) || undefined;
  await waitFor(found, { intervalMs: 2, signal });
}
