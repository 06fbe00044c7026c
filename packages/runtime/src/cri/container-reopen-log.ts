import type { RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from './services.ts';

/** ReopenContainerLog: after the kubelet has moved the log file away. */
export function containerReopenLog({
  containers,
  tasks,
}: Pick<CriServices, 'containers' | 'tasks'>): RuntimeHandlers['reopenContainerLog'] {
  return async ({ containerId }) => {
    await tasks.reopenLog(containers.requireRunning(containerId).id);
    return {};
  };
}
