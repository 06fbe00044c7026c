import { finished, type Readable, Writable } from 'node:stream';
import { exitStatus, failureStatus } from '../exit-status.ts';
import type { RemoteProcess } from '../remote-process.ts';
import { readSizes } from '../terminal-resize.ts';

/** The client's ends of a remote command, whatever wire they came over. */
export type CommandStreams = {
  stdin: Readable | undefined;
  stdout: Writable | undefined;
  stderr: Writable | undefined;
  resize: Readable | undefined;
  /** Takes the final word: JSON where the protocol has it, else text. */
  error: Writable;
  /** True from protocol v4 on: the error stream carries a Status object. */
  structuredStatus: boolean;
  /** Resolves when the client is gone. */
  gone: Promise<void>;
};

/** After the process has ended, how long a client may take to read what is left. */
const DRAIN_TIMEOUT_MS = 30_000;

/**
 * Joins a process to its client until the process ends or the client goes: output is passed on to its last byte before the
 * exit code is told. Never rejects.
 */
export async function runSession(start: () => Promise<RemoteProcess>, streams: CommandStreams): Promise<void> {
  let process: RemoteProcess;
  try {
    process = await start();
  } catch (error) {
    return say(streams, JSON.stringify(failureStatus(error)), failureStatus(error).message ?? '');
  }
  try {
    if (streams.resize !== undefined) readSizes(streams.resize, ({ Width, Height }) => process.resize(Width, Height));
    if (streams.stdin !== undefined && process.stdin !== undefined) pump(streams.stdin, process.stdin);
    const outputs = [drain(process.stdout, streams.stdout), drain(process.stderr, streams.stderr)];
    const exitCode = await Promise.race([process.exit, streams.gone.then(() => undefined)]);
    if (exitCode === undefined) return;
    await Promise.race([Promise.all(outputs), streams.gone, timeout(DRAIN_TIMEOUT_MS)]);
    const status = exitStatus(exitCode);
    say(streams, JSON.stringify(status), status.message ?? '');
  } catch (error) {
    say(streams, JSON.stringify(failureStatus(error)), failureStatus(error).message ?? '');
  } finally {
    process.close();
  }
}

/** Passes bytes on with back-pressure; the end of the source ends the target; a dead target lets the source run dry. */
function pump(source: Readable, target: Writable): void {
  source.pipe(target);
  target.on('error', () => source.unpipe(target).resume());
  source.on('error', () => target.end());
}

/** Passes output on, or reads it away when nobody asked for it; resolves at its end. */
function drain(source: Readable | undefined, target: Writable | undefined): Promise<void> {
  if (source === undefined) {
    target?.end();
    return Promise.resolve();
  }
  pump(source, target ?? new Writable({ write: (_chunk, _encoding, done) => done() }));
  return new Promise((resolve) => finished(target ?? source, { readable: false }, () => resolve()));
}

function say(streams: CommandStreams, structured: string, text: string): void {
  if (streams.error.destroyed) return;
  streams.error.end(streams.structuredStatus ? structured : text);
}

function timeout(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs).unref());
}
