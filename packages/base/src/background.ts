import { errorMessage } from './errors.ts';
import type { Logger } from './log.ts';

/** Work that nobody waits for: a failure is logged, with what it was. Without this, a rejection ends the process. */
export function background(logger: Pick<Logger, 'error'>, failure: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => logger.error({ error: errorMessage(error) }, failure));
}
