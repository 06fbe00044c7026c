import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitFor, withTimeout } from '@podwright/base';

export type Ended = { code: number | null; signal: NodeJS.Signals | null; out: string; err: string };

/** Generous timeout, to allow for a busy host. */
const PATIENCE_MS = 60_000;

/** A program started by a test, with its output so far and its exit status. */
export class StartedProgram {
  readonly child: ChildProcess;
  out = '';
  err = '';
  readonly #closed: Promise<unknown[]>;

  constructor(command: string[], options: { env?: Record<string, string>; detached?: boolean } = {}) {
    const [file, ...args] = command;
    this.child = spawn(file!, args, { ...options, env: { ...process.env, NO_COLOR: '1', ...options.env } });
    this.child.stdout!.on('data', (chunk) => {
      this.out += chunk;
    });
    this.child.stderr!.on('data', (chunk) => {
      this.err += chunk;
    });
    this.#closed = once(this.child, 'close');
  }

  /** Waits until the program's output matches. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const find = () => {
      const found = pattern.exec(this.out) ?? pattern.exec(this.err);
      if (found === null && this.child.exitCode !== null)
        throw new Error(`the program exited before ${pattern}: ${this.#output()}`);
      return found ?? undefined;
    };
    using signal = withTimeout(undefined, PATIENCE_MS, `wait for ${pattern}`);
    return await waitFor(find, { intervalMs: 20, signal }).catch((error: unknown) => {
      throw new Error(`${error}: ${this.#output()}`);
    });
  }

  type(text: string): void {
    this.child.stdin!.write(text);
  }

  /** Waits for the program to exit; kills it and throws on timeout. */
  async ended(timeoutMs = PATIENCE_MS): Promise<Ended> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), timeoutMs);
    await this.#closed;
    clearTimeout(timer);
    const { exitCode: code, signalCode: signal } = this.child;
    if (signal === 'SIGKILL') throw new Error(`killed after ${timeoutMs} ms: ${this.#output()}`);
    return { code, signal, out: this.out, err: this.err };
  }

  #output(): string {
    return `${this.out.slice(-3000)}\n${this.err.slice(-3000)}`;
  }
}
