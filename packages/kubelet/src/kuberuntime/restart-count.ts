import { join } from 'node:path';
import { namesIn } from '@podwright/base';
import { latestContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/**
 * Attempt number of the next start: one more than the last container's, or than the last log file's when the runtime
 * has forgotten the container. Rejects if the log directory cannot be read: a number that was used before would have the
 * runtime write into another start's log.
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
