import { finished, type Readable, type Writable } from 'node:stream';
import { raceAbort } from '@podwright/base';
import { type ExitStatus, exitStatus, failureStatus } from '../exit-status.ts';
import { DRAIN_IDLE_MS } from '../limits.ts';
import type { RemoteProcess, TerminalSize } from '../remote-process.ts';
import { readSizes } from '../terminal-resize.ts';

/** The client's streams for a remote command, independent of the wire protocol. */
export type CommandStreams = {
  stdin: Readable | undefined;
  stdout: Writable | undefined;
  stderr: Writable | undefined;
  resize: Readable | undefined;
  /** Receives the command's status: JSON if `structuredStatus` is set, otherwise text. */
  error: Writable;
  /** Whether the error stream carries a Status object, as it does since protocol v4. */
  structuredStatus: boolean;
  /** A signal that aborts when the client disconnects, before its streams end. */
  gone: AbortSignal;
};

/**
 * Joins a process to its client until the process exits or the client disconnects. All output is forwarded before the exit code is sent.
 * The process returned by `start` is always closed, even if the client has already disconnected. Never rejects unless `close` throws.
 */
export async function runSession(
  start: (gone: AbortSignal) => Promise<RemoteProcess>,
  streams: CommandStreams,
): Promise<void> {
  let process: RemoteProcess;
  try {
    process = await start(streams.gone);
  } catch (error) {
    return sendStatus(streams, failureStatus(error));
  }
  try {
    await sendStatus(streams, await follow(process, streams));
  } finally {
    process.close();
  }
}

/** Forwards the streams between a process and its client. Returns the process's status once all of its output has been forwarded. */
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

/** Resizes the terminal. A failure, for example after the process has exited, does not end the session. */
function resize(process: RemoteProcess, { Width, Height }: TerminalSize): void {
  try {
    process.resize(Width, Height);
  } catch {
    // the session continues with the old size
  }
}

/**
 * Forwards input with backpressure. Closes the process's stdin at the end of the input, unless the client has disconnected. Once the
 * process has closed its stdin, further input is discarded.
 */
function passInput({ stdin, gone }: CommandStreams, target: Writable): void {
  const source = stdin!;
  const drop = () => {
    source.unpipe(target);
    source.resume();
  };
  target.on('error', drop);
  target.once('close', drop);
  source.on('error', () => undefined); // an error is emitted when the connection ends
  source.once('end', () => {
    if (!gone.aborted && !target.destroyed) target.end();
  });
  source.pipe(target, { end: false });
}

/** Forwards a process's output streams to the client. */
class Output {
  #flowing = 0;
  #lastByteAtMs = performance.now();
  #onEnd: () => void = () => undefined;

  /**
   * Forwards one output stream and its end. If there is no target, or the target has been destroyed, the output is discarded so that the
   * process does not block.
   */
  pass(source: Readable | undefined, requested: Writable | undefined): void {
    if (source === undefined) return void requested?.end();
    const target = requested?.destroyed ? undefined : requested; // the client disconnected while the process started
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
    source.once('close', () => target.end()); // ends the target if the source is destroyed without an end
    source.pipe(target);
  }

  /** Waits until all output streams have ended, or until they have been idle for `DRAIN_IDLE_MS`. */
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

/** Sends a command's status on the error stream, and waits until it has been written or the client has disconnected. */
async function sendStatus(streams: CommandStreams, status: ExitStatus): Promise<void> {
  const { error, gone } = streams;
  if (gone.aborted || !error.writable) return;
  const sent = new Promise<void>((resolve) => finished(error, { readable: false }, () => resolve()));
  error.end(streams.structuredStatus ? JSON.stringify(status) : (status.message ?? ''));
  await raceAbort(sent, gone).catch(() => undefined); // the client has disconnected
}
