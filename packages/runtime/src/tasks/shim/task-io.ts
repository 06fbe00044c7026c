import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { PRIVATE_FILE, pause } from '@podwright/base';
import type { System } from '@podwright/system';
import { tooSlow } from '../client-output.ts';
import type { ExecSession } from '../task-runtime.ts';
import type { CriLog, LogStream } from './cri-log.ts';
import { endHolder, openFifoWriter, startHolder, touchFifo } from './fifo.ts';
import { FINISH_TIMEOUT_MS, QUIET_MS } from './limits.ts';
import { OutputFan } from './output-fan.ts';

export type TaskIoOptions = {
  /** Directory of the FIFOs. */
  directory: string;
  terminal: boolean;
  stdin: boolean;
  stdinOnce: boolean;
  log: CriLog | undefined;
};

/** Returns the FIFO paths for a process's streams; '' for each stream that the process does not have. */
export function fifoPaths({ directory, terminal, stdin }: Pick<TaskIoOptions, 'directory' | 'terminal' | 'stdin'>) {
  return {
    stdin: stdin ? join(directory, 'stdin') : '',
    stdout: join(directory, 'stdout'),
    stderr: terminal ? '' : join(directory, 'stderr'),
  };
}

/** Creates the FIFOs, and starts a holder process that keeps the output FIFOs open. Returns the holder's PID. */
export function makeTaskFifos(system: System, options: TaskIoOptions): number {
  const { stdin, stdout, stderr } = fifoPaths(options);
  for (const path of [stdin, stdout, stderr]) if (path !== '') system.makeFifo(path, PRIVATE_FILE);
  return startHolder([stdout, ...(stderr === '' ? [] : [stderr])]);
}

/** The stdio of a task's first process: its log and its attach sessions. */
export class TaskIo {
  readonly #options: TaskIoOptions;
  readonly #holder: number;
  readonly #stdout: OutputFan;
  readonly #stderr: OutputFan | undefined;
  readonly #sessions = new Set<() => void>();
  /** The write end of the process's stdin; undefined if the process has no stdin, or if stdin has ended. */
  #stdin: Socket | undefined;
  #received = 0;
  #unwritten = 0;
  #ending = false;

  /** Opens the FIFOs created by `makeTaskFifos`, whether just now or before the restart. */
  constructor(options: TaskIoOptions, holder: number) {
    const paths = fifoPaths(options);
    const output = (path: string, stream: LogStream) =>
      new OutputFan(path, async (chunk) => {
        this.#received += chunk.length;
        await options.log?.write(stream, chunk);
      });
    this.#options = options;
    this.#holder = holder;
    this.#stdout = output(paths.stdout, 'stdout');
    this.#stderr = paths.stderr === '' ? undefined : output(paths.stderr, 'stderr');
    if (paths.stdin !== '') this.#stdin = openFifoWriter(paths.stdin);
  }

  /** Called once this process has closed stdin, so that the shim closes it too. */
  onStdinEnd: () => void = () => undefined;

  attach(withStdin: boolean, signal: AbortSignal): Omit<ExecSession, 'exit' | 'resize'> {
    signal.throwIfAborted();
    const cut = () => end(tooSlow('attach'));
    const stdout = this.#stdout.add(cut);
    const stderr = this.#stderr?.add(cut);
    const stdin = this.#input(withStdin);
    const detach = () => end();
    const end = (error?: Error) => {
      this.#sessions.delete(detach);
      signal.removeEventListener('abort', detach);
      if (stderr !== undefined) this.#stderr?.remove(stderr, error);
      this.#stdout.remove(stdout, error);
      stdin.destroy();
      if (withStdin && this.#options.stdinOnce) this.endStdin();
    };
    this.#sessions.add(detach);
    signal.addEventListener('abort', detach, { once: true });
    return { stdin, stdout, stderr };
  }

  /** Closes stdin after all pending writes. */
  endStdin(): void {
    this.#ending = true;
    if (this.#stdin === undefined || this.#unwritten > 0) return;
    this.#stdin.destroy();
    this.#stdin = undefined;
    this.onStdinEnd();
  }

  async reopenLog(): Promise<void> {
    await this.#options.log?.reopen();
  }

  /**
   * Must be called when the process has exited. Processes the remaining output as long as more arrives, then closes the streams, because a
   * child of the process might keep the output open forever. Clients that do not read are disconnected, so that the log receives the
   * remaining output. Returns whether the log is complete: a hanging disk can block the log's writes forever too.
   */
  async finish(): Promise<boolean> {
    await endHolder(this.#holder, this.#options.directory);
    const { stdout, stderr } = fifoPaths(this.#options);
    for (const path of [stdout, stderr]) if (path !== '') touchFifo(path);
    const ended = new AbortController();
    Promise.all([this.#stdout.ended, this.#stderr?.ended]).then(() => ended.abort());
    const deadline = performance.now() + FINISH_TIMEOUT_MS;
    for (let seen = -1; this.#hasProgress(seen) && !ended.signal.aborted && performance.now() < deadline; ) {
      seen = this.#received;
      await pause(QUIET_MS, ended.signal);
      if (seen !== this.#received || !this.#isHeldUp) continue;
      this.#detachAll();
      seen = -1; // output that the client delayed arrives now
    }
    const isLogged = !this.#isLogging;
    this.close();
    return isLogged;
  }

  /** Closes the FIFOs, the log and all attach sessions, but leaves the process running. */
  close(): void {
    this.#stdout.close();
    this.#stderr?.close();
    this.#stdin?.destroy();
    this.#stdin = undefined;
    this.#detachAll();
    this.#options.log?.close();
  }

  #detachAll(): void {
    for (const detach of this.#sessions) detach();
  }

  #hasProgress(seen: number): boolean {
    return this.#received !== seen || this.#isLogging;
  }

  get #isLogging(): boolean {
    return this.#stdout.isTaking || this.#stderr?.isTaking === true;
  }

  get #isHeldUp(): boolean {
    return this.#stdout.isHeldUp || this.#stderr?.isHeldUp === true;
  }

  #input(withStdin: boolean): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        const stdin = withStdin && !this.#ending ? this.#stdin : undefined;
        if (stdin === undefined) return done();
        this.#unwritten++;
        stdin.write(chunk, () => {
          this.#unwritten--;
          if (this.#ending) this.endStdin();
          done();
        });
      },
      final: (done) => {
        if (withStdin && this.#options.stdinOnce) this.endStdin();
        done();
      },
    });
  }
}
