import { setImmediate } from 'node:timers/promises';
import { errorMessage, Limiter, type Logger } from '@podwright/base';

/** Walks through written layers at once: more only keep others waiting. */
const AT_ONCE = 8;

/**
 * Measures each of the records. One that cannot be measured is left out and told in the log, so that a pod which just goes
 * away does not keep the others from being measured.
 */
export async function measureEach<R extends { id: string }, T>(
  records: R[],
  { logger }: { logger: Logger },
  measure: (record: R) => Promise<T>,
): Promise<T[]> {
  const limiter = new Limiter(AT_ONCE);
  const one = (record: R) =>
    limiter
      .run(async () => {
        await setImmediate(); // reading some forty files keeps all others waiting: for those of one record only
        return [await measure(record)];
      })
      .catch((error: unknown) => {
        logger.warn({ id: record.id, error: errorMessage(error) }, 'what it uses could not be measured');
        return [];
      });
  return (await Promise.all(records.map(one))).flat();
}
