import { type LogEnd, type LogQuery, limitText, readLog } from './log-reader.ts';

/**
 * Reads logs that are not stored in a file that the kubelet can read, such as those of a Docker Engine with a log driver other than
 * json-file. Implemented by the container runtime embedded in the kubelet's process.
 */
export interface LegacyLogs {
  /**
   * Returns a container's log as text; `undefined` if the log is a file at the CRI's log path. Ends when `signal` aborts and, with
   * `follow`, when the container exits. Ignores `limitBytes`. Rejects with `not_found`, `unavailable`, or `failed_precondition` if the log
   * driver does not support reading.
   */
  read(containerId: string, query: LogQuery, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined>;
}

/** A container's log, identified by the container ID in the container runtime. */
export type LegacyLog = { logs: LegacyLogs; containerId: string };

/** Where to find a container's log: in a Docker Engine's log driver (`legacy`) or, if that driver has none, in the file at `path`. */
export type LogSource = { path: string; legacy?: LegacyLog };

/** Reads a container's log as text from `legacy` or from its file. Rejects like `readLog` and `LegacyLogs`. */
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
