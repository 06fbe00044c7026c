import { errorMessage, type Logger, pause } from '@podwright/base';

export type Repeated = { everyMs: number; failure: string; logger: Pick<Logger, 'warn'>; signal: AbortSignal };

/** Repeats work until the signal aborts. A failure is logged. */
export async function repeat(work: () => Promise<void>, { everyMs, failure, logger, signal }: Repeated): Promise<void> {
  while (!signal.aborted) {
    await work().catch((error: unknown) => logger.warn({ error: errorMessage(error) }, failure));
    await pause(everyMs, signal);
  }
}
