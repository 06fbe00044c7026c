import { pino } from 'pino';

/** A structured logger: fields first, then what happened. */
export type Logger = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
};

/** A logger of JSON lines on stderr, or in the file at `path`. Levels: debug, info, warn, error, silent. */
export function createLogger(options: { level?: string; path?: string; name?: string } = {}): Logger {
  const destination = pino.destination({ dest: options.path ?? 2, sync: true, mkdir: true });
  return pino(
    { level: options.level ?? 'info', name: options.name, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
}

const quiet = () => undefined;
/** A logger that drops everything, for tests and for callers that pass none. */
export const silentLogger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => silentLogger };
