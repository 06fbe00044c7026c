import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { sleep, waitFor, withTimeout } from '@podwright/base';

/** Terminal output, with its time in ms since the first output. */
export type Output = { atMs: number; text: string };
export type TerminalSize = { columns: number; rows: number };

/** Interval between keystrokes, as from a fast typist. */
const KEY_MS = 45;
const PATIENCE_MS = 60_000;

/**
 * A shell in a pseudo-terminal of this size, with the prompt `$ `; the terminal is created by script(1) from util-linux. `prefix` returns
 * the command line that runs a command in the shell's environment, for example with nsenter.
 */
export class TerminalSession implements AsyncDisposable {
  readonly outputs: Output[] = [];
  readonly #child: ChildProcess;
  readonly #decoder = new TextDecoder();
  #startedAtMs: number | undefined;
  /** Position in the output at which the next `until` starts searching. */
  #seen = 0;

  constructor(size: TerminalSize, prefix: (...command: string[]) => string[], env: Record<string, string>) {
    // dash, because it has no line editor whose control sequences would need to be interpreted
    const shell = `stty cols ${size.columns} rows ${size.rows}; PS1='$ ' exec dash -i`;
    const [program, ...args] = prefix('script', '--quiet', '--flush', '--command', shell, '/dev/null');
    const inherited = { ...process.env };
    delete inherited.NO_COLOR;
    delete inherited.FORCE_COLOR;
    const environment = { ...inherited, TERM: 'xterm-256color', LANG: 'C.UTF-8', SHELL: '/bin/sh', ...env };
    this.#child = spawn(program!, args, { stdio: ['pipe', 'pipe', 'inherit'], env: environment });
    this.#child.stdout!.on('data', (chunk: Buffer) => {
      this.#startedAtMs ??= performance.now();
      const atMs = Math.round(performance.now() - this.#startedAtMs);
      this.outputs.push({ atMs, text: this.#decoder.decode(chunk, { stream: true }) });
    });
  }

  /** Types a command key by key, followed by Enter. */
  async type(command: string): Promise<void> {
    for (const key of `${command}\n`) {
      await sleep(KEY_MS);
      this.press(key);
    }
  }

  press(key: string): void {
    this.#child.stdin!.write(key);
  }

  /** Waits until `pattern` matches the output after the previous match. */
  async until(pattern: RegExp): Promise<void> {
    using signal = withTimeout(undefined, PATIENCE_MS, `wait for ${pattern}`);
    const find = () => {
      const text = this.#text();
      const found = pattern.exec(text.slice(this.#seen));
      if (found !== null) this.#seen += found.index + found[0].length;
      else if (this.#child.exitCode !== null) throw new Error(`the shell ended before ${pattern}: ${text}`);
      return found === null ? undefined : true;
    };
    await waitFor(find, { intervalMs: 20, signal }).catch((error: unknown) => {
      throw new Error(`${error}: ${this.#text()}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #text(): string {
    return this.outputs.map(({ text }) => text).join('');
  }
}
