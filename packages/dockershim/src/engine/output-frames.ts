import { PassThrough, type Readable } from 'node:stream';
import { PodwrightError } from '@podwright/base';

/** Length of a frame header: stream number, three zero bytes, and the big-endian payload length (Engine API, "Attach to a container"). */
const HEAD_BYTES = 8;

const STDERR = 2;
/** Stream number of an error message from the Engine, which sends nothing after it. */
const SYSTEM_ERROR = 3;

/** A container's output streams. */
export type OutputStreams = { stdout: Readable; stderr: Readable };

/**
 * Demultiplexes the frames of a container without a terminal. Both streams end or fail when the source does; a slow reader pauses the
 * source. Payloads are passed on as they arrive, so the length in a frame header never causes an allocation.
 */
export function splitFrames(source: Readable, head: Buffer): OutputStreams {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const frames = new FrameReader();
  const take = (chunk: Buffer) => {
    for (const { stream, bytes } of frames.take(chunk)) {
      if (stream === SYSTEM_ERROR) return fail(new PodwrightError('internal', bytes.toString('utf8')));
      const output = stream === STDERR ? streams.stderr : streams.stdout;
      if (!output.write(bytes)) hold(output);
    }
  };
  const hold = (output: PassThrough) => {
    source.pause();
    output.once('drain', () => {
      if (!streams.stdout.writableNeedDrain && !streams.stderr.writableNeedDrain) source.resume();
    });
  };
  const fail = (error: Error) => {
    source.destroy();
    streams.stdout.destroy(error);
    streams.stderr.destroy(error);
  };
  source.on('data', take);
  source.once('error', fail);
  source.once('close', () => {
    streams.stdout.end();
    streams.stderr.end();
  });
  if (head.length > 0) take(head);
  return streams;
}

/** Decodes frames. Yields payloads as they arrive, in order, each with its stream number. */
export class FrameReader {
  #head = Buffer.alloc(0);
  #stream = 0;
  #leftBytes = 0;

  *take(chunk: Buffer): Generator<{ stream: number; bytes: Buffer }> {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#leftBytes === 0) {
        const missing = HEAD_BYTES - this.#head.length;
        this.#head = Buffer.concat([this.#head, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (this.#head.length < HEAD_BYTES) return;
        this.#stream = this.#head[0]!;
        this.#leftBytes = this.#head.readUInt32BE(4);
        this.#head = Buffer.alloc(0);
        continue;
      }
      const bytes = rest.subarray(0, this.#leftBytes);
      rest = rest.subarray(bytes.length);
      this.#leftBytes -= bytes.length;
      yield { stream: this.#stream, bytes };
    }
  }
}
