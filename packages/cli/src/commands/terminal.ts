import { Transform, type TransformCallback } from 'node:stream';
import type { TerminalSize } from '@podwright/streaming';

/**
 * Puts the terminal into raw mode, so that all keys, including Ctrl-C and Ctrl-Z, are sent to the command. Node.js itself restores the
 * terminal on SIGINT and SIGTERM; this function also does so on SIGHUP.
 */
export function rawTerminal(): Disposable {
  const hungUp = () => {
    process.stdin.setRawMode(false);
    process.kill(process.pid, 'SIGHUP');
  };
  process.once('SIGHUP', hungUp);
  process.stdin.setRawMode(true);
  return {
    [Symbol.dispose]: () => {
      process.off('SIGHUP', hungUp);
      process.stdin.setRawMode(false);
    },
  };
}

/** Calls the listener with the terminal size, immediately and after every change. */
export function watchTerminalSize(listener: (size: TerminalSize) => void): Disposable {
  const terminal = process.stdout.isTTY ? process.stdout : process.stderr; // standard output may be a pipe
  const report = () => {
    if (terminal.isTTY) listener({ Width: terminal.columns, Height: terminal.rows });
  };
  terminal.on('resize', report);
  report();
  return { [Symbol.dispose]: () => terminal.off('resize', report) };
}

/** The terminal types in Debian's minimal terminfo (ncurses-base). Few container images support any others. */
const KNOWN_TERMINALS = /^(?:ansi|dumb|linux|rxvt|(?:screen|tmux|xterm)(?:-256color)?|vt(?:100|102|220))$/;

/** Returns the caller's TERM if containers are likely to support it, or else `xterm`. */
export function terminalName(term: string | undefined): string {
  return term !== undefined && KNOWN_TERMINALS.test(term) ? term : 'xterm';
}

const CTRL_P = 0x10;
const CTRL_Q = 0x11;

/**
 * Passes typed bytes through until Ctrl-P Ctrl-Q, Docker's detach keys, and then calls `onDetach`. A Ctrl-P is held back until the next
 * byte arrives.
 */
export class DetachKeys extends Transform {
  readonly #onDetach: () => void;
  #held = false;

  constructor(onDetach: () => void) {
    super();
    this.#onDetach = onDetach;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const typed = this.#held ? Buffer.concat([Buffer.of(CTRL_P), chunk]) : chunk;
    const keys = typed.indexOf(Buffer.of(CTRL_P, CTRL_Q));
    this.#held = keys < 0 && typed.at(-1) === CTRL_P;
    const passed = typed.subarray(0, keys >= 0 ? keys : this.#held ? -1 : undefined);
    if (passed.length > 0) this.push(passed);
    if (keys >= 0) this.#onDetach();
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#held) this.push(Buffer.of(CTRL_P));
    done();
  }
}
