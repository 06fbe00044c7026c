import { finished, type Readable, type Writable } from 'node:stream';
import { raceAbort } from '@podwright/base';
import { type ExitStatus, exitStatus, failureStatus } from '../exit-status.ts';
import { DRAIN_IDLE_MS } from '../limits.ts';
import type { RemoteProcess, TerminalSize } from '../remote-process.ts';
import { readSizes } from '../terminal-resize.ts';

/** The client's ends of a remote command, whatever wire they came over. */
export type CommandStreams = {
  stdin: Readable | undefined;
  stdout: Writable | undefined;
  stderr: Writable | undefined;
  resize: Readable | undefined;
  /** Takes the command's status: JSON where the protocol has it, else text. */
  error: Writable;
  /** True from protocol v4 on: the error stream carries a Status object. */
  structuredStatus: boolean;
  /** Aborts when the client is gone, before the ends of its streams are seen. */
  gone: AbortSignal;
};

/**
 * Joins a process to its client until the process ends or the client goes: output is passed on to its last byte before the
 * exit code is told. Whatever `start` returned is closed, also if the client went meanwhile. Never rejects unless `close` throws.
 */
export async function runSession(
  start: (gone: AbortSignal) => Promise<RemoteProcess>,
  streams: CommandStreams,
): Promise<void> {
  let process: RemoteProcess;
  try {
    process = await start(streams.gone);
  } catch (error) {
    return tell(streams, failureStatus(error));
  }
  try {
    await tell(streams, await follow(process, streams));
  } finally {
    process.close();
  }
}

/** How the process ended, after all its output has been passed on. */
async function follow(process: RemoteProcess, streams: CommandStreams): Promise<ExitStatus> {
  const output = new Output();
  try {
    if (streams.resize !== undefined) readSizes(streams.resize, (size) => resize(process, size));
    if (streams.stdin !== undefined && process.stdin !== undefined) passInput(streams, process.stdin);
    output.pass(process.stdout, streams.stdout);
    output.pass(process.stderr, streams.stderr);
    const exitCode = await raceAbort(process.exit, streams.gone);
    await output.drained(streams.gone);
    return exitStatus(exitCode);
  } catch (error) {
    return failureStatus(error);
  }
}

/** A terminal that cannot be resized, as of a process that has just ended, is no reason to end the session. */
function resize(process: RemoteProcess, { Width, Height }: TerminalSize): void {
  try {
    process.resize(Width, Height);
  } catch {
    // the session goes on with the old size
  }
}

/** Passes input on with back-pressure, and its end unless that is the client's own. Input that is not read is dropped. */
function passInput({ stdin, gone }: CommandStreams, target: Writable): void {
  const source = stdin!;
  const drop = () => {
    source.unpipe(target);
    source.resume();
  };
  target.on('error', drop);
  target.once('close', drop);
  source.on('error', () => undefined); // comes with the end of the connection
  source.once('end', () => {
    if (!gone.aborted && !target.destroyed) target.end();
  });
  source.pipe(target, { end: false });
}

/** The outputs of a process on their way to the client. */
class Output {
  #flowing = 0;
  #lastByteAtMs = performance.now();
  #onEnd: () => void = () => undefined;

  /** Passes one output on, with its end; without a target, or after its death, it is read away so that no writer blocks. */
  pass(source: Readable | undefined, asked: Writable | undefined): void {
    if (source === undefined) return void asked?.end();
    const target = asked?.destroyed ? undefined : asked; // its client left while the process started
    this.#flowing++;
    source.on('data', () => {
      this.#lastByteAtMs = performance.now();
    });
    finished(target ?? source, target === undefined ? {} : { readable: false }, () => {
      this.#flowing--;
      this.#onEnd();
    });
    if (target === undefined) return void source.resume();
    target.on('error', () => source.unpipe(target).resume());
    target.once('close', () => source.unpipe(target).resume());
    source.once('error', () => target.end());
    source.once('close', () => target.end()); // destroyed without an end
    source.pipe(target);
  }

  /** Waits until all outputs have ended, or have brought nothing for a while. */
  async drained(signal: AbortSignal): Promise<void> {
    if (this.#flowing === 0) return;
    this.#lastByteAtMs = performance.now();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEnd = () => this.#flowing === 0 && resolve();
    const timer = setInterval(() => {
      if (performance.now() - this.#lastByteAtMs >= DRAIN_IDLE_MS) resolve();
    }, DRAIN_IDLE_MS / 10);
    try {
      await raceAbort(promise, signal);
    } finally {
      clearInterval(timer);
    }
  }
}

/** Says how it ended, and waits until the client's side has taken it or is gone. */
async function tell(streams: CommandStreams, status: ExitStatus): Promise<void> {
  const { error, gone } = streams;
  if (gone.aborted || !error.writable) return;
  const told = new Promise<void>((resolve) => finished(error, { readable: false }, () => resolve()));
  error.end(streams.structuredStatus ? JSON.stringify(status) : (status.message ?? ''));
  await raceAbort(told, gone).catch(() => undefined); // gone: there is no client to tell
}
