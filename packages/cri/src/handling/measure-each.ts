import { setImmediate } from 'node:timers/promises';
import { errorMessage, Limiter, type Logger } from '@podwright/base';

/**
 * Maximum number of concurrent measurements. Each one walks a container's writable layer, so running more at a time would only slow down
 * other work.
 */
const AT_ONCE = 8;

/**
 * Measures each record. A record that cannot be measured is logged and omitted, so that a pod being removed does not prevent the others
 * from being measured.
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
        await setImmediate(); // a measurement reads about forty files synchronously: yield to other work after each record
        return [await measure(record)];
      })
      .catch((error: unknown) => {
        logger.warn({ id: record.id, error: errorMessage(error) }, 'what it uses could not be measured');
        return [];
      });
  return (await Promise.all(records.map(one))).flat();
}
