import { BoundedBytes } from '../bounded-bytes.ts';
import type { Framing } from './answer-head.ts';
import type { AnswerInput, Step } from './answer-input.ts';

/** Maximum length in bytes of a line in a chunked body, and of the entire trailer (maxLineLength in Go's net/http/internal). */
const MAX_CHUNK_LINE_BYTES = 4096;
/**
 * Go tolerates chunking overhead of up to FREE_CHUNK_BYTES plus twice the data size for each chunk, and a total of MAX_EXCESS_BYTES beyond
 * that.
 */
const FREE_CHUNK_BYTES = 16;
const MAX_EXCESS_BYTES = 16 << 10;

/**
 * An HTTP response body. `isCut`: it was longer than the caller's limit, so its rest is missing. `error`: reading it failed before its end.
 */
export type AnswerBody = { bytes: Buffer; isCut: boolean; error?: Error };

/** Reads a response body. Bytes beyond `maxBytes` are left unread. */
export function* readBody(input: AnswerInput, framing: Framing, maxBytes: number): Step<AnswerBody> {
  const body = new BoundedBytes(maxBytes);
  try {
    if (framing.until === 'length') yield* readExactly(input, framing.bytes, body);
    else if (framing.until === 'last-chunk') yield* readChunks(input, body);
    else yield* readUntilClose(input, body);
  } catch (error) {
    return { bytes: body.bytes(), isCut: body.isCut, error: error as Error };
  }
  return { bytes: body.bytes(), isCut: body.isCut };
}

function* readExactly(input: AnswerInput, bytes: number, body: BoundedBytes): Step<void> {
  for (let left = bytes; left > 0 && !body.isCut; ) {
    const read = yield* input.some(left);
    if (read === undefined) throw new Error('unexpected EOF');
    body.add(read);
    left -= read.length;
  }
}

function* readUntilClose(input: AnswerInput, body: BoundedBytes): Step<void> {
  while (!body.isCut) {
    const read = yield* input.some(Number.POSITIVE_INFINITY);
    if (read === undefined) return;
    body.add(read);
  }
}

function* readChunks(input: AnswerInput, body: BoundedBytes): Step<void> {
  for (let excess = 0; !body.isCut; ) {
    const line = yield* readChunkLine(input);
    const size = chunkSize(line);
    excess = Math.max(0, excess + line.length + 2 - FREE_CHUNK_BYTES - 2 * size);
    if (excess > MAX_EXCESS_BYTES) throw new Error('chunked encoding contains too much non-data');
    if (size === 0) return yield* readTrailer(input);
    yield* readExactly(input, size, body);
    if (!body.isCut) yield* readChunkEnd(input);
  }
}

/** Reads the line that precedes a chunk. It must end with CRLF; a bare LF is rejected (RFC 9112, 2.2 and 7.1). */
function* readChunkLine(input: AnswerInput): Step<string> {
  const line = yield* input.line(MAX_CHUNK_LINE_BYTES);
  if (line === undefined) throw new Error('unexpected EOF');
  const firstReturn = line.indexOf('\r');
  if (firstReturn < 0) throw new Error('chunked line ends with bare LF');
  if (firstReturn < line.length - 1) throw new Error('invalid CR in chunked line');
  return line.slice(0, -1);
}

/** Parses a chunk size, ignoring chunk extensions. */
function chunkSize(line: string): number {
  const size = line.split(';', 1)[0]!.trimEnd();
  if (size === '') throw new Error('empty hex number for chunk length');
  if (!/^[\da-f]+$/i.test(size)) throw new Error('invalid byte in chunk length');
  if (size.length > 16) throw new Error('http chunk length too large');
  return Number.parseInt(size, 16);
}

function* readChunkEnd(input: AnswerInput): Step<void> {
  for (const expected of '\r\n') {
    const read = yield* input.some(1);
    if (read === undefined) throw new Error('unexpected EOF');
    if (read.toString('latin1') !== expected) throw new Error('malformed chunked encoding');
  }
}

function* readTrailer(input: AnswerInput): Step<void> {
  for (let left = MAX_CHUNK_LINE_BYTES; ; ) {
    const line = yield* input.line(left);
    if (line === undefined) throw new Error('http: unexpected EOF reading trailer');
    if (!line.endsWith('\r')) throw new Error('http: suspiciously long trailer after chunked body');
    if (line === '\r') return;
    left -= line.length + 1;
  }
}
