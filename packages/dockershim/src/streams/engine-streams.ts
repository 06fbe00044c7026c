import { once } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough, type Readable, Writable } from 'node:stream';
import type { HijackedConnection } from '../engine/engine-http.ts';
import { splitFrames } from '../engine/output-frames.ts';

/** A process's standard streams, carried over an upgraded connection to the Engine. */
export type EngineStreams = {
  stdin: Writable;
  stdout: Readable;
  /** Absent if the process has a terminal. */
  stderr: Readable | undefined;
  /** Resolves to `undefined` once the Engine has sent all output, or to the error that broke the connection. */
  over: Promise<Error | undefined>;
  close: () => void;
};

/**
 * Demultiplexes a connection into its streams. `endsInput`: whether ending `stdin` ends the process's input. Must be false for an input
 * that stays open across clients, because the Engine would then close the output as well. A terminal's input never ends.
 */
export function engineStreams(
  { socket, head }: HijackedConnection,
  { tty, endsInput }: { tty: boolean; endsInput: boolean },
): EngineStreams {
  const outputs = tty ? { stdout: rawOutput(socket, head), stderr: undefined } : splitFrames(socket, head);
  // ignored here: `over` reports a broken connection
  outputs.stdout.on('error', () => undefined);
  outputs.stderr?.on('error', () => undefined);
  // the Engine shuts down only its own direction, and reads no more input after that, so close the connection
  socket.once('end', () => socket.destroy());
  const over = once(socket, 'close').then(
    () => undefined,
    (error: Error) => error,
  );
  return { ...outputs, stdin: inputTo(socket, endsInput && !tty), over, close: () => socket.destroy() };
}

function rawOutput(socket: Socket, head: Buffer): Readable {
  const output = new PassThrough();
  if (head.length > 0) output.write(head);
  socket.once('error', (error) => output.destroy(error));
  socket.once('close', () => output.end());
  socket.pipe(output, { end: false });
  return output;
}

function inputTo(socket: Socket, endsInput: boolean): Writable {
  const input = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      socket.write(chunk, done);
    },
    final: (done) => {
      if (endsInput) socket.end(done);
      else done();
    },
  });
  input.on('error', () => undefined);
  socket.once('close', () => input.destroy());
  return input;
}
