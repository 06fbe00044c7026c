import { once } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough, type Readable, Writable } from 'node:stream';
import type { HijackedConnection } from '../engine/engine-http.ts';
import { splitFrames } from '../engine/output-frames.ts';

/** The standard streams of a process behind a connection of the Engine. */
export type EngineStreams = {
  stdin: Writable;
  stdout: Readable;
  /** Absent with a terminal. */
  stderr: Readable | undefined;
  /** Resolves when the Engine has sent all output, or the connection has broken, which is then told. */
  over: Promise<Error | undefined>;
  /** Gives the connection up. */
  close: () => void;
};

/**
 * Takes a connection's streams apart. `endsInput`: whether the end of `stdin` is to be the end of the process's input; else it is
 * dropped, because the Engine ends the outputs with an input that it may not end, and on a terminal there is no end of input.
 */
export function engineStreams(
  { socket, head }: HijackedConnection,
  { tty, endsInput }: { tty: boolean; endsInput: boolean },
): EngineStreams {
  const outputs = tty ? { stdout: rawOutput(socket, head), stderr: undefined } : splitFrames(socket, head);
  // whoever reads them hears of a broken connection by `over`
  outputs.stdout.on('error', () => undefined);
  outputs.stderr?.on('error', () => undefined);
  // the Engine ends its side only, and reads no more input
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
