import { errorMessage } from './errors.ts';
import type { Logger } from './log.ts';

/** Runs work that no caller awaits. A rejection is logged with the message `failure`; an unhandled rejection would terminate the process. */
export function background(logger: Pick<Logger, 'error'>, failure: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => logger.error({ error: errorMessage(error) }, failure));
}

/** Ignores a promise's rejection. `_why` documents the reason for readers of the code. */
export function ignoreFailure(promise: Promise<unknown>, _why: string): void {
  promise.catch(() => undefined);
}
