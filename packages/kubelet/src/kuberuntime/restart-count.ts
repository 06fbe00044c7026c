import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { latestContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/**
 * Attempt number of the next start: one more than the last container's, or than the last log file's when the runtime
 * has forgotten the container.
 */
export async function nextRestartCount(
  status: RuntimePodStatus,
  containerName: string,
  podLogDirectory: string,
): Promise<number> {
  const latest = latestContainer(status, containerName);
  if (latest !== undefined) return latest.restartCount + 1;
  const files = await readdir(join(podLogDirectory, containerName)).catch(() => []);
  const attempts = files.map((file) => /^(\d{1,9})\.log/.exec(file)?.[1]).filter((text) => text !== undefined);
  return attempts.length === 0 ? 0 : Math.max(...attempts.map(Number)) + 1;
}
