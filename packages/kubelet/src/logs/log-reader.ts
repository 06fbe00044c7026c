import { PodwrightError } from '@podwright/base';
import { FileChanges } from './file-changes.ts';
import { type LogFilesQuery, nextLog, openLogs, type PositionedLog } from './log-files.ts';
import { NEWLINE } from './log-text.ts';
import type { LogFile } from './open-log.ts';

export type LogQuery = LogFilesQuery & {
  /** Maximum length of the text to return, in bytes. */
  limitBytes?: number;
};

/** `ended` aborts when the container exits; `signal` aborts when the client disconnects. */
export type LogEnd = { ended: AbortSignal; signal: AbortSignal };

/**
 * Reads a container's log as text, starting with the rotated logs. Yields one buffer per file chunk. As long as the container is running, a
 * missing log counts as empty; otherwise it is `not_found`.
 */
export function readLog(path: string, query: LogQuery, until: LogEnd): AsyncGenerator<Buffer> {
  const text = readText(path, query, until);
  return query.limitBytes === undefined ? text : limitText(text, query.limitBytes);
}

/** Truncates a log's text to `limitBytes`. */
export async function* limitText(text: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<Buffer> {
  let leftBytes = limitBytes;
  for await (const chunk of text) {
    yield chunk.subarray(0, leftBytes);
    leftBytes -= chunk.length;
    if (leftBytes <= 0) return;
  }
}

async function* readText(path: string, query: LogQuery, until: LogEnd): AsyncGenerator<Buffer> {
  const { ended, signal } = until;
  await using changes = query.follow ? new FileChanges(path, until) : undefined;
  const start = await openLogs(path, query, signal);
  const joined = new JoinedText();
  let file: PositionedLog | undefined = start.current;
  let next: PositionedLog | undefined;
  let wasFound = file !== undefined;
  try {
    for await (const log of start.rotated) {
      wasFound = true;
      yield* joined.wholeFile(log, signal);
    }
    for (let hasChanged = false; !signal.aborted; hasChanged = true) {
      // check this before reading: if the container has exited by now, everything it wrote will be read
      const last = !query.follow || ended.aborted;
      if (query.follow) file ??= await nextLog(path, start.position, query);
      wasFound ||= file !== undefined;
      if (file !== undefined) yield* joined.of(file.log.text(signal, { hasChanged }));
      if (signal.aborted) return;
      next = query.follow && file?.isComplete() ? await nextLog(path, file.position, query) : undefined;
      if (file !== undefined && next !== undefined) {
        yield* joined.of(file.log.text(signal)); // output since the last read
        yield* joined.end(file.log, { isCut: next.isAfterGap });
        file.log.close();
        [file, next] = [next, undefined];
        continue;
      }
      if (last) break;
      await changes?.next();
    }
    const rest = file?.log.rest();
    if (rest !== undefined && rest.length > 0) yield rest;
    if (!wasFound && !signal.aborted)
      throw new PodwrightError('not_found', `read the log ${path}: there is no such file`);
  } finally {
    file?.log.close();
    next?.log.close();
  }
}

/** Joins the text of several log files. A line may continue in the next file, unless a file in between is missing. */
class JoinedText {
  #isInLine = false;

  /** Yields the text of a whole log file, including its end; `undefined` stands for a file that was removed before it could be read. */
  async *wholeFile(log: LogFile | undefined, signal: AbortSignal): AsyncGenerator<Buffer> {
    try {
      if (log !== undefined) yield* this.of(log.text(signal));
      yield* this.end(log, { isCut: log === undefined });
    } finally {
      log?.close();
    }
  }

  async *of(text: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of text) {
      this.#isInLine = piece.at(-1) !== NEWLINE;
      yield piece;
    }
  }

  /** Ends the text of a log file: adds a newline after an unfinished entry, and after a line whose continuation is missing (`isCut`). */
  *end(log: LogFile | undefined, { isCut }: { isCut: boolean }): Generator<Buffer> {
    const rest = log?.rest();
    if (rest !== undefined && rest.length > 0) yield rest;
    const isInLine = this.#isInLine || (rest !== undefined && rest.length > 0);
    if (isInLine && (isCut || rest?.length)) yield Buffer.from([NEWLINE]);
    this.#isInLine = isInLine && !isCut && !rest?.length;
  }
}
