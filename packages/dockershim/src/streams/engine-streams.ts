import { once } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough, type Readable, Writable } from 'node:stream';
import type { HijackedConnection } from '../engine/engine-http.ts';
import { splitFrames } from '../engine/output-frames.ts';

/** The standard streams of a process, over an upgraded connection to the Engine. */
export type EngineStreams = {
  stdin: Writable;
  stdout: Readable;
  /** Absent with a terminal. */
  stderr: Readable | undefined;
  /** Resolves when the Engine has sent all output, or with the error that broke the connection. */
  over: Promise<Error | undefined>;
  /** Closes the connection. */
  close: () => void;
};

/**
 * Splits a connection into its streams. `endsInput`: whether the end of `stdin` ends the process's input. It must not for an input that
 * stays open across clients, because the Engine would then close the output too. A terminal has no end of input.
 */
export function engineStreams(
  { socket, head }: HijackedConnection,
  { tty, endsInput }: { tty: boolean; endsInput: boolean },
): EngineStreams {
  const outputs = tty ? { stdout: rawOutput(socket, head), stderr: undefined } : splitFrames(socket, head);
  // readers find out about a broken connection from `over`
  outputs.stdout.on('error', () => undefined);
  outputs.stderr?.on('error', () => undefined);
  // the Engine only shuts down its own direction, and then reads no more input
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
