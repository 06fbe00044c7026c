import { type LogEnd, type LogQuery, limitText, readLog } from './log-reader.ts';

/**
 * Logs that stand in no file that a kubelet can read, such as those of a Docker Engine with another log driver than json-file. Who
 * runs such a runtime in the kubelet's process fills it.
 */
export interface LegacyLogs {
  /**
   * A container's log as text; `undefined` for one whose log is in the CRI's place after all. With `follow` it ends with the container,
   * and always with `signal`. `limitBytes` is not its business. Errors: `not_found`, `unavailable`, `failed_precondition` (a driver
   * that nothing can be read from).
   */
  read(containerId: string, query: LogQuery, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined>;
}

/** The log of one container, by the runtime's id of it. */
export type LegacyLog = { logs: LegacyLogs; containerId: string };

/** Where the log of a container is; its file counts where `legacy` knows nothing. */
export type LogPlace = { path: string; legacy?: LegacyLog };

/** Reads a container's log as text, from its file or from where else it is. Errors: those of `readLog` and `LegacyLogs`. */
export function readContainerLog({ path, legacy }: LogPlace, query: LogQuery, until: LogEnd): AsyncGenerator<Buffer> {
  return legacy === undefined ? readLog(path, query, until) : readLegacyLog({ path, legacy }, query, until);
}

async function* readLegacyLog(
  { path, legacy }: Required<LogPlace>,
  query: LogQuery,
  until: LogEnd,
): AsyncGenerator<Buffer> {
  const text = await legacy.logs.read(legacy.containerId, query, until.signal);
  if (text === undefined) yield* readLog(path, query, until);
  else yield* limitText(text, query.limitBytes ?? Number.POSITIVE_INFINITY);
}
