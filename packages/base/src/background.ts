import { errorMessage } from './errors.ts';
import type { Logger } from './log.ts';

/**
 * Runs work whose result no caller awaits. A rejection is logged as `failure`; otherwise the unhandled rejection would end the
 * process.
 */
export function background(logger: Pick<Logger, 'error'>, failure: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => logger.error({ error: errorMessage(error) }, failure));
}

/** Marks a promise whose rejection may be ignored. `_why` gives the reason to readers of the code. */
export function ignoreFailure(promise: Promise<unknown>, _why: string): void {
  promise.catch(() => undefined);
}
