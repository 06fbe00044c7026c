import { errorMessage, isShortage, type Logger, pause } from '@podwright/base';

type Server = { close(): Promise<void> };

const RETRY_MS = 5000;

export type LateServerOptions = {
  serve: () => Promise<Server>;
  /** What users will notice while the server is not running, for log messages. */
  consequence: string;
  logger: Logger;
  retryMs?: number;
};

/**
 * Starts a server. If the disk is too full to create its socket, retries in the background until it starts or the returned server is
 * closed. Rejects if the first attempt fails for any other reason.
 */
export async function startOnceThereIsSpace(options: LateServerOptions): Promise<Server> {
  const { serve, consequence, logger } = options;
  try {
    return await serve();
  } catch (error) {
    if (!isShortage(error)) throw error;
    logger.warn({ error: errorMessage(error) }, `${consequence}; will retry`);
  }
  const stop = new AbortController();
  const later = startLater(options, stop.signal);
  return {
    close: async () => {
      stop.abort();
      await (await later)?.close();
    },
  };
}

/** Retries until the server starts. Resolves with `undefined` if stopped or if an attempt fails for any other reason. Never rejects. */
async function startLater(options: LateServerOptions, signal: AbortSignal): Promise<Server | undefined> {
  const { serve, consequence, logger, retryMs = RETRY_MS } = options;
  for (;;) {
    await pause(retryMs, signal);
    if (signal.aborted) return undefined;
    try {
      return await serve();
    } catch (error) {
      if (isShortage(error)) continue;
      logger.error({ error: errorMessage(error) }, consequence);
      return undefined;
    }
  }
}
