import { errorMessage, type Logger, raceAbort } from '@podwright/base';

/** Resolves with the result of a measurement, or with `undefined` if it fails or is not available when the signal aborts. */
export function inTime<T>(measuring: Promise<T>, signal: AbortSignal, logger: Logger): Promise<T | undefined> {
  return raceAbort(measuring, signal).catch((error: unknown) => {
    logger.debug({ error: errorMessage(error) }, 'a measurement of pods failed or is late');
    return undefined;
  });
}
