import { readFile, writeFile } from 'node:fs/promises';
import { errorMessage, isErrno, type Logger } from '@podwright/base';

const OWN_SCORE = '/proc/self/oom_score_adj';

/**
 * Sets this process's oom_score_adj. Lowering it requires CAP_SYS_RESOURCE; a refusal by the kernel is only logged. `file`: path of the
 * kernel's oom_score_adj file, overridden in tests.
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
