import { access } from 'node:fs/promises';
import { waitFor, withTimeout } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { REOPEN_LOG_TIMEOUT_MS } from '../../time-limits.ts';
import type { CriServices } from '../services/services.ts';

/** ReopenContainerLog: after the kubelet has moved the log file away. It answers when the new one is there. */
export function containerReopenLog({
  containers,
  tasks,
}: Pick<CriServices, 'containers' | 'tasks'>): RuntimeHandlers['reopenContainerLog'] {
  return async ({ containerId }, { signal }) => {
    const { id, logPath } = containers.requireRunning(containerId);
    await tasks.reopenLog(id, logPath);
    if (logPath !== '') await untilThere(logPath, signal);
    return {};
  };
}

async function untilThere(path: string, parent: AbortSignal): Promise<void> {
  using signal = withTimeout(parent, REOPEN_LOG_TIMEOUT_MS, `reopen log ${path}`);
  const found = () =>
    access(path).then(
      () => true,
      () => undefined,
    );
  await waitFor(found, { intervalMs: 2, signal });
}
