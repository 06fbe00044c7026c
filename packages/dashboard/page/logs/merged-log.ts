/** Merges log lines of several containers by time, in bounded memory. No I/O. */
import { type LogLine, sizeOf } from './log-line.ts';

/** Maximum total size of retained lines, as estimated by `sizeOf`. */
const MAX_LOG_BYTES = 16 << 20;
/** Share of the maximum size to remove at once. Removing fewer lines would copy the list too often. */
const REMOVED_SHARE = 1 / 8;

/**
 * Lines of several containers, sorted by time and added in batches. Since the containers' streams are read concurrently, a line might
 * arrive after later lines of other containers. It is then inserted before them.
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

  /** Number of old lines that were removed from the log. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds lines. Lines from the same container must be in order. */
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

  /** Merges a batch that starts before the last line of the log. */
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

const byTime = (a: LogLine, b: LogLine): number => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0);

function isInOrder(lines: readonly LogLine[]): boolean {
  for (let index = 1; index < lines.length; index++) if (lines[index]!.time < lines[index - 1]!.time) return false;
  return true;
}
