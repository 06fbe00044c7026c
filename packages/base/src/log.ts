import { pino } from 'pino';

/** A structured logger. As in pino, `fields` is the first argument. */
export type Logger = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
};

/** Maximum size of the log lines buffered in memory while the disk is full; further lines are dropped. */
const MAX_WAITING_BYTES = 1 << 20;

/**
 * Creates a logger that writes JSON lines to stderr or to the file at `path`. `level`: debug, info (default), warn, error or silent. Never
 * throws: a line that cannot be written is buffered and retried before the next one.
 */
export function createLogger(options: { level?: string; path?: string; name?: string } = {}): Logger {
  const dest = options.path ?? 2;
  const destination = pino.destination({ dest, sync: true, mkdir: true, maxLength: MAX_WAITING_BYTES });
  destination.removeAllListeners('error').on('error', () => undefined);
  return pino(
    { level: options.level ?? 'info', name: options.name, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
}

const quiet = () => undefined;
/** A logger that discards everything, for tests and for callers that do not configure logging. */
export const silentLogger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => silentLogger };
