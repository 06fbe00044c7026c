import { finished, type Readable, type Writable } from 'node:stream';
import { BoundedBytes, ignoreFailure, PodwrightError, raceAbort, wrapError } from '@podwright/base';
import { exitCodeFrom, parseStatus } from '../exit-status.ts';
import type { RemoteProcess, StreamChoice, TerminalSize } from '../remote-process.ts';
import { hasResize, hasStructuredStatus, SPDY_COMMAND_PROTOCOLS } from '../server/protocols.ts';
import type { SpdyConnection } from '../spdy/connection.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { connectSpdy, type UpgradeTarget } from './upgrade.ts';

/**
 * The local streams of a remote command; this module never ends or destroys them. They must match the streams for which the URL was
 * created, because the server waits for each of them. `resize` calls its listener immediately and whenever the terminal's size changes.
 */
export type CommandIo = {
  stdin?: Readable;
  stdout?: Writable;
  /** Receives the command's stderr; ignored if `tty` is set. */
  stderr?: Writable;
  tty: boolean;
  resize?: (listener: (size: TerminalSize) => void) => Disposable;
};

const MAX_STATUS_BYTES = 64 << 10;

/**
 * Runs a command, or attaches to one, through a streaming URL. Returns the exit code after all output has been forwarded. Throws the same
 * errors as `connectSpdy`, `internal` with the server's message if the command could not be run, `unavailable` if the connection was lost
 * before the exit status arrived, and the signal's reason if it aborts.
 */
export async function runRemoteCommand(target: UpgradeTarget, io: CommandIo, signal?: AbortSignal): Promise<number> {
  const { connection, protocol } = await connectSpdy(target, { protocols: SPDY_COMMAND_PROTOCOLS, signal });
  const onAbort = () => connection.destroy();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const following = follow(connection, { io, protocol });
    return await (signal === undefined ? following : raceAbort(following, signal));
  } finally {
    signal?.removeEventListener('abort', onAbort);
    connection.destroy();
  }
}

/**
 * Connects to the process behind a streaming URL, for a caller that serves it to another client. `close` closes the connection. Throws the
 * same errors as `connectSpdy`; `exit` rejects with the same errors as `runRemoteCommand`.
 */
export async function openRemoteProcess(
  target: UpgradeTarget,
  choice: StreamChoice,
  signal: AbortSignal,
): Promise<RemoteProcess> {
  const { connection, protocol } = await connectSpdy(target, { protocols: SPDY_COMMAND_PROTOCOLS, signal });
  try {
    const { error, stdin, stdout, stderr, resize } = await openStreams(connection, { choice, protocol });
    for (const output of [error, stdout, stderr]) output?.end();
    const exit = readStatus(error).then((message) => exitCodeOf(message, protocol));
    ignoreFailure(exit, 'the caller may not wait for the exit');
    return {
      stdin,
      stdout,
      stderr,
      resize: (Width, Height) => void resize?.write(`${JSON.stringify({ Width, Height })}\n`),
      exit,
      close: () => connection.destroy(),
    };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

async function follow(
  connection: SpdyConnection,
  { io, protocol }: { io: CommandIo; protocol: string },
): Promise<number> {
  const choice = { stdin: !!io.stdin, stdout: !!io.stdout, stderr: !!io.stderr, tty: io.tty };
  const streams = await openStreams(connection, { choice, protocol });
  streams.error.end();
  using _input = io.stdin && streams.stdin && passInput(io.stdin, streams.stdin);
  using _resizing = streams.resize && io.resize?.((size) => streams.resize?.write(`${JSON.stringify(size)}\n`));
  const [message] = await Promise.all([
    readStatus(streams.error),
    streams.stdout && passOutput(streams.stdout, io.stdout!),
    streams.stderr && passOutput(streams.stderr, io.stderr!),
  ]);
  return exitCodeOf(message, protocol);
}

/** Opens the streams in the same order as Kubernetes clients: error, stdin, stdout, stderr, resize. */
async function openStreams(
  connection: SpdyConnection,
  { choice, protocol }: { choice: StreamChoice; protocol: string },
) {
  const open = (wanted: boolean, streamtype: string) => (wanted ? connection.open({ streamtype }) : undefined);
  const [error, stdin, stdout, stderr, resize] = await Promise.all([
    connection.open({ streamtype: 'error' }),
    open(choice.stdin, 'stdin'),
    open(choice.stdout, 'stdout'),
    open(choice.stderr && !choice.tty, 'stderr'),
    open(choice.tty && hasResize(protocol), 'resize'),
  ]);
  return { error, stdin, stdout, stderr, resize };
}

/** Forwards local input, including its end, to the remote command until disposed. */
function passInput(source: Readable, target: SpdyStream): Disposable {
  const end = () => target.end();
  source.pipe(target);
  source.once('error', end);
  return {
    [Symbol.dispose]: () => {
      source.unpipe(target);
      source.off('error', end);
    },
  };
}

/** Forwards the remote command's output to a local stream until the output ends. Rejects if the local write fails. */
function passOutput(source: SpdyStream, target: Writable): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onError = (cause: Error) => reject(wrapError("write the command's output", cause));
  source.end(); // this side writes nothing to an output stream
  target.once('error', onError);
  finished(source, { writable: false }, () => resolve());
  source.pipe(target, { end: false });
  return promise.finally(() => {
    source.unpipe(target);
    target.off('error', onError);
  });
}

async function readStatus(stream: SpdyStream): Promise<string> {
  const status = new BoundedBytes(MAX_STATUS_BYTES);
  for await (const chunk of stream as AsyncIterable<Buffer>) status.add(chunk);
  return status.bytes().toString('utf8');
}

/**
 * Converts the error stream's message to an exit code. Before protocol v4, an empty message means success, and any other is an error
 * message.
 */
function exitCodeOf(message: string, protocol: string): number {
  if (message === '' && !hasStructuredStatus(protocol)) return 0;
  if (message === '')
    throw new PodwrightError('unavailable', 'the connection ended before the end of the command was known');
  const status = parseStatus(message);
  if (status === undefined) throw new PodwrightError('internal', message);
  const exitCode = exitCodeFrom(status);
  if (exitCode === undefined) throw new PodwrightError('internal', status.message ?? 'the command could not be run');
  return exitCode;
}
