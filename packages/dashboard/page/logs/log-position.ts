/** Resumes the log of a container where an earlier stream of it ended. Pure. */
import type { LogLine } from './log-line.ts';

/**
 * Tracks the lines read from a container's log. A stream that resumes at a timestamp repeats lines: the kubelet includes those with that
 * timestamp, and rounds it down to a second.
 */
export class LogPosition {
  /** Timestamp of the last line that had one ('' if there was none), and the number of lines with this timestamp. */
  #last = { time: '', count: 0 };
  /** Timestamp at which the current stream resumes, and the number of lines with this timestamp that the stream has yet to repeat. */
  #from = { time: '', count: 0 };

  /** Begins a stream. Returns the timestamp to resume at, or undefined if all lines are wanted. */
  resume(): string | undefined {
    this.#from = { ...this.#last };
    return this.#last.time || undefined;
  }

  /** Returns the lines that no earlier stream contained. Lines without a timestamp, such as errors of the kubelet, always count as new. */
  unread(lines: readonly LogLine[]): LogLine[] {
    return lines.filter(({ time }) => time === '' || this.#isUnread(time));
  }

  #isUnread(time: string): boolean {
    if (time < this.#from.time) return false;
    if (time === this.#from.time && this.#from.count > 0) {
      this.#from.count--;
      return false;
    }
    this.#last = { time, count: time === this.#last.time ? this.#last.count + 1 : 1 };
    return true;
  }
}
