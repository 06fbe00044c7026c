/** Reads a log and filters it for display. */
import { signal } from '@preact/signals';
import { FrameBatch } from '../state/frame-batch.ts';
import { FilteredLines, type LogFilter } from './log-filter.ts';
import type { LogLine } from './log-line.ts';
import { type LogRequest, readLogs } from './log-streams.ts';
import { MergedLog } from './merged-log.ts';

export type Shown = {
  /** The log lines that match the filter. */
  lines: readonly LogLine[];
  /** Number of log lines in memory, before filtering. */
  total: number;
  /** Number of old log lines removed to limit memory usage. */
  dropped: number;
  /** Version of the log, incremented on each change. */
  version: number;
};

export class LogModel {
  readonly shown = signal<Shown>({ lines: [], total: 0, dropped: 0, version: 0 });
  /** The state of each container's stream: `connecting`, or the last one passed to `LogReceiver.setState`. */
  readonly states = signal<readonly string[]>([]);
  readonly #log = new MergedLog();
  readonly #filtered = new FilteredLines();
  readonly #batch = new FrameBatch<LogLine[]>((batches) => this.#add(batches));
  #abort = new AbortController();

  /** Starts reading a log, discarding the lines of the previously shown one. */
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
    // as a single batch: inserting late lines among earlier ones costs the same for one line as for many
    this.#log.add(batches.flat());
    this.#show();
  }

  #show(): void {
    const lines = this.#filtered.of(this.#log.lines);
    const { version } = this.shown.peek();
    this.shown.value = { lines, total: this.#log.lines.length, dropped: this.#log.dropped, version: version + 1 };
  }
}
