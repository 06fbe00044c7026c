import { join } from 'node:path';
import { namesIn } from '@podwright/host';
import { latestContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/**
 * Returns the restart count of the next container: one more than that of the last container or, if it has been removed, of its last log
 * file. Rejects if the log directory cannot be read: with a reused count, the container runtime would append to another attempt's log.
 */
export async function nextRestartCount(
  status: RuntimePodStatus,
  containerName: string,
  podLogDirectory: string,
): Promise<number> {
  const latest = latestContainer(status, containerName);
  if (latest !== undefined) return latest.restartCount + 1;
  const files = await namesIn(join(podLogDirectory, containerName));
  const attempts = files.map((file) => /^(\d{1,9})\.log/.exec(file)?.[1]).filter((text) => text !== undefined);
  return attempts.length === 0 ? 0 : Math.max(...attempts.map(Number)) + 1;
}
