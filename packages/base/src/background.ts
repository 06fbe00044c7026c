import { errorMessage } from './errors.ts';
import type { Logger } from './log.ts';

/**
 * Runs work in the background. A rejection is logged with the message `failure`, because an unhandled rejection would terminate the
 * process.
 */
export function background(logger: Pick<Logger, 'error'>, failure: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => logger.error({ error: errorMessage(error) }, failure));
}

/** Ignores a promise's rejection. `_why` only documents the reason. */
export function ignoreFailure(promise: Promise<unknown>, _why: string): void {
  promise.catch(() => undefined);
}
