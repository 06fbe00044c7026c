import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChecked } from '@podwright/host';

const TRACEFS = '/sys/kernel/tracing';
const BUFFER_KB = 16_384;

/** A kernel trace event (tracefs, Documentation/trace/events.rst). `atMs` uses the clock of `process.hrtime`. */
export type KernelEvent = { atMs: number; name: string; thread: number; fields: string };

/** Traces starts, exits and scheduling of all processes, and the system calls of one thread, in its own trace instance. */
export class KernelTrace implements Disposable {
  readonly #directory = join(TRACEFS, `instances/podwright-bench-${process.pid}`);

  static async open(): Promise<KernelTrace> {
    if (!existsSync(join(TRACEFS, 'instances'))) await runChecked('mount', ['-t', 'tracefs', 'tracefs', TRACEFS]);
    return new KernelTrace();
  }

  private constructor() {
    mkdirSync(this.#directory);
    this.#write('tracing_on', '0');
    this.#write('trace_clock', 'mono');
    this.#write('buffer_size_kb', String(BUFFER_KB));
    for (const event of ['process_fork', 'process_exec', 'process_exit', 'switch', 'wakeup'])
      this.#write(`events/sched/sched_${event}/enable`, '1');
  }

  /** Clears the buffer and starts recording, including the system calls of `thread`. */
  start(thread: number): void {
    for (const event of ['sys_enter', 'sys_exit']) {
      this.#write(`events/raw_syscalls/${event}/filter`, `common_pid == ${thread}`);
      this.#write(`events/raw_syscalls/${event}/enable`, '1');
    }
    this.#write('trace', '');
    this.#write('tracing_on', '1');
  }

  stop(): KernelEvent[] {
    this.#write('tracing_on', '0');
    return readFileSync(join(this.#directory, 'trace'), 'utf8')
      .split('\n')
      .flatMap((line) => parseLine(line) ?? []);
  }

  [Symbol.dispose](): void {
    rmdirSync(this.#directory);
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.#directory, file), text);
  }
}

/** Parses a line such as `  node-1234  [001] d..2.  1234.567890: sched_switch: prev_comm=…`. */
function parseLine(line: string): KernelEvent | undefined {
  const match = /-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): (\w+):? (.*)$/.exec(line);
  return match === null || line.startsWith('#')
    ? undefined
    : { thread: Number(match[1]), atMs: Number(match[2]) * 1000, name: match[3]!, fields: match[4]! };
}
