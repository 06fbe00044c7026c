import { join } from 'node:path';
import { type Logger, shownError } from '@podwright/base';
import { namesIn, removeTree } from '@podwright/host';

/**
 * Removes the log directories (`<namespace>_<name>_<uid>`) of the given pods. Must only be called with this kubelet's pods, because other
 * kubelets may share the parent directory.
 */
export async function removeLogsOf(podLogsDir: string, podUids: readonly string[], logger: Logger): Promise<void> {
  if (podUids.length === 0) return;
  const uids = new Set(podUids);
  for (const name of await namesIn(podLogsDir)) {
    if (!uids.has(name.split('_')[2] ?? '')) continue;
    await removeTree(join(podLogsDir, name)).catch((error: unknown) =>
      logger.warn({ name, error: shownError(error) }, 'the logs of a deleted pod could not be removed'),
    );
  }
}
