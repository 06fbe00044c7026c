import { removeTree } from '@podwright/base';
import { podLogDirectory } from '../kuberuntime/pod-sandbox-config.ts';
import type { StatusManager } from '../status/status-manager.ts';

/**
 * Forgets the pods that an earlier kubelet knew, and that neither a source nor the runtime has any more: their logs, then their
 * statuses. Log directories of others are not touched, as several kubelets may write to one place.
 */
export async function forgetOrphans(
  { statuses, podLogsDir }: { statuses: StatusManager; podLogsDir: string },
  known: ReadonlySet<string>,
): Promise<void> {
  for (const pod of statuses.orphans(known)) {
    await removeTree(podLogDirectory(podLogsDir, pod));
    statuses.delete(pod.uid);
  }
}
