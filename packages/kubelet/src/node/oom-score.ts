import { readFile, writeFile } from 'node:fs/promises';
import { errorMessage, isErrno, type Logger } from '@podwright/base';

const OWN_SCORE = '/proc/self/oom_score_adj';

/**
 * Sets this process's oom_score_adj. Without CAP_SYS_RESOURCE, the kernel refuses to lower it; the failure is then logged. `file`: the path
 * of the kernel's oom_score_adj file, which tests override.
 */
export async function applyOomScore(score: number, logger: Logger, file: string = OWN_SCORE): Promise<void> {
  try {
    await writeFile(file, String(score));
  } catch (error) {
    if (!isErrno(error, 'EACCES') && !isErrno(error, 'EPERM')) throw error;
    const kept = (await readFile(file, 'utf8')).trim();
    logger.info(
      { wanted: score, kept, error: errorMessage(error) },
      'the oom_score_adj of the kubelet may not be lowered',
    );
  }
}
