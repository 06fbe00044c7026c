/** Reads a log, and filters it for the view. */
import { signal } from '@preact/signals';
import { FrameBatch } from '../state/frame-batch.ts';
import { FilteredLines, type LogFilter } from './log-filter.ts';
import type { LogLine } from './log-line.ts';
import { type LogRequest, readLogs } from './log-streams.ts';
import { MergedLog } from './merged-log.ts';

export type Shown = {
  /** The lines that pass the filter. */
  lines: readonly LogLine[];
  /** Number of lines that are kept, before the filter. */
  total: number;
  /** Number of the oldest lines that were removed, to bound the memory. */
  dropped: number;
  /** Increases with each change. */
  version: number;
};

export class LogModel {
  readonly shown = signal<Shown>({ lines: [], total: 0, dropped: 0, version: 0 });
  /** The state of each container's stream: `connecting`, or what `LogReceiver.setState` reported last. */
  readonly states = signal<readonly string[]>([]);
  readonly #log = new MergedLog();
  readonly #filtered = new FilteredLines();
  readonly #batch = new FrameBatch<LogLine[]>((batches) => this.#add(batches));
  #abort = new AbortController();

  /** Begins to read a log. Drops the lines of the log that was read before. */
  open(request: LogRequest): void {
    this.close();
    this.#abort = new AbortController();
    this.#log.clear();
    this.states.value = request.containers.map(() => 'connecting');
    this.#show();
    const { signal } = this.#abort;
    const setState = (source: number, state: string) => {
      if (signal.aborted || this.states.peek()[source] === state) return;
      this.states.value = this.states.peek().with(source, state);
    };
    void readLogs(request, { add: (lines) => this.#batch.add(lines), setState }, signal);
  }

  setFilter(filter: LogFilter): void {
    this.#filtered.setFilter(filter);
    this.#show();
  }

  close(): void {
    this.#abort.abort();
    this.#batch.drop();
  }

  #add(batches: LogLine[][]): void {
    // one batch: late lines are inserted between earlier ones, which costs the same for one line as for many
    this.#log.add(batches.flat());
    this.#show();
  }

  #show(): void {
    const lines = this.#filtered.of(this.#log.lines);
    const { version } = this.shown.peek();
    this.shown.value = { lines, total: this.#log.lines.length, dropped: this.#log.dropped, version: version + 1 };
  }
}
