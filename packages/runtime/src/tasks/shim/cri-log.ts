import { closeSync, openSync, writeSync } from 'node:fs';
import { errorMessage, LOG_FILE, type Logger } from '@podwright/base';

export type LogStream = 'stdout' | 'stderr';

const newline = 0x0a;

/**
 * Output as a CRI log has it: `<time> <stream> <tag> <words>`, a line each, with the tag F for what ends a line and P for
 * what does not (kubelet, "CRI log format"). Nothing is held back for the rest of a line, so nothing is lost with us.
 */
export function formatCriLog(stream: LogStream, chunk: Buffer, time: string): Buffer {
  const parts: Buffer[] = [];
  const full = Buffer.from(`${time} ${stream} F `);
  for (let start = 0; start < chunk.length; ) {
    const end = chunk.indexOf(newline, start);
    if (end === -1) {
      parts.push(Buffer.from(`${time} ${stream} P `), chunk.subarray(start), Buffer.from('\n'));
      break;
    }
    parts.push(full, chunk.subarray(start, end + 1));
    start = end + 1;
  }
  return Buffer.concat(parts);
}

/**
 * The CRI log file of a task, written by this process. It is written at once and not in the background: what was taken from
 * the task's pipe must not be lost when we are killed.
 */
export class CriLog {
  readonly #path: string;
  readonly #logger: Logger;
  #descriptor: number | undefined;
  #failed = false;

  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.reopen();
  }

  /** A log that cannot be written is told of once; the task goes on without. */
  write(stream: LogStream, chunk: Buffer): void {
    if (this.#descriptor === undefined) return;
    try {
      writeAll(this.#descriptor, formatCriLog(stream, chunk, new Date().toISOString()));
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) this.#logger.warn({ log: this.#path, error: errorMessage(error) }, "write a task's log");
      this.#failed = true;
    }
  }

  /** Opens the path anew, as after a rotation. */
  reopen(): void {
    const descriptor = openSync(this.#path, 'a', LOG_FILE);
    this.close();
    this.#descriptor = descriptor;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(descriptor, bytes, offset);
}
