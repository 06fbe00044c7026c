/** The lines of several containers in the order of their times, of which a bounded number is kept. Pure. */
import { type LogLine, sizeOf } from './log-line.ts';

/** What a page keeps of a log. */
export const MAX_LOG_BYTES = 16 << 20;
/** Lines that are removed at once, so that removing them costs little for each. */
const REMOVED_SHARE = 1 / 8;

/**
 * Lines are added in batches. A line that comes later than one with a later time is put where it belongs: the
 * containers' streams are read at the same time, but not in step.
 */
export class MergedLog {
  readonly #maxBytes: number;
  #lines: LogLine[] = [];
  #bytes = 0;
  #dropped = 0;

  constructor(maxBytes = MAX_LOG_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** How many of the oldest lines were removed. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds lines. Those of one source are in their order. */
  add(batch: readonly LogLine[]): void {
    if (batch.length === 0) return;
    const sorted = isInOrder(batch) ? batch : batch.toSorted(byTime);
    const first = sorted[0]!;
    const last = this.#lines.at(-1);
    if (last === undefined || last.time <= first.time) for (const line of sorted) this.#lines.push(line);
    else this.#mergeLate(sorted);
    for (const line of sorted) this.#bytes += sizeOf(line);
    if (this.#bytes > this.#maxBytes) this.#removeOldest();
  }

  clear(): void {
    this.#lines = [];
    this.#bytes = 0;
    this.#dropped = 0;
  }

  /** Takes off the lines that are later than the first one of the batch, and puts both back in order. */
  #mergeLate(batch: readonly LogLine[]): void {
    const { time } = batch[0]!;
    let at = this.#lines.length;
    while (at > 0 && this.#lines[at - 1]!.time > time) at--;
    const later = this.#lines.splice(at);
    let index = 0;
    for (const line of batch) {
      while (index < later.length && later[index]!.time <= line.time) this.#lines.push(later[index++]!);
      this.#lines.push(line);
    }
    while (index < later.length) this.#lines.push(later[index++]!);
  }

  #removeOldest(): void {
    const wanted = this.#maxBytes * (1 - REMOVED_SHARE);
    let count = 0;
    while (count < this.#lines.length - 1 && this.#bytes > wanted) this.#bytes -= sizeOf(this.#lines[count++]!);
    this.#lines = this.#lines.slice(count);
    this.#dropped += count;
  }
}

/** A stable order, in which lines without a time keep their places before those with one. */
const byTime = (a: LogLine, b: LogLine): number => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0);

function isInOrder(lines: readonly LogLine[]): boolean {
  for (let index = 1; index < lines.length; index++) if (lines[index]!.time < lines[index - 1]!.time) return false;
  return true;
}
