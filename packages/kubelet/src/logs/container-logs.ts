import { type LogEnd, type LogQuery, limitText, readLog } from './log-reader.ts';

/**
 * Logs that are not in a file which the kubelet can read, such as those of a Docker Engine with a log driver other than json-file.
 * Implemented by the runtime that runs in the kubelet's process.
 */
export interface LegacyLogs {
  /**
   * A container's log as text; `undefined` if the log is a file at the CRI's path. With `follow` the text ends when the container exits.
   * It ends when `signal` aborts. Ignores `limitBytes`. Errors: `not_found`, `unavailable`, `failed_precondition` (the log driver does
   * not support reading).
   */
  read(containerId: string, query: LogQuery, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined>;
}

/** The log of one container, by the runtime's container id. */
export type LegacyLog = { logs: LegacyLogs; containerId: string };

/** The location of a container's log. The file at `path` is used if `legacy` has no log. */
export type LogSource = { path: string; legacy?: LegacyLog };

/** Reads a container's log as text from its file or `legacy`. Errors: those of `readLog` and `LegacyLogs`. */
export function readContainerLog({ path, legacy }: LogSource, query: LogQuery, until: LogEnd): AsyncGenerator<Buffer> {
  return legacy === undefined ? readLog(path, query, until) : readLegacyLog({ path, legacy }, query, until);
}

async function* readLegacyLog(
  { path, legacy }: Required<LogSource>,
  query: LogQuery,
  until: LogEnd,
): AsyncGenerator<Buffer> {
  const text = await legacy.logs.read(legacy.containerId, query, until.signal);
  if (text === undefined) yield* readLog(path, query, until);
  else yield* limitText(text, query.limitBytes ?? Number.POSITIVE_INFINITY);
}
