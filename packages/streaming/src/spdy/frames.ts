import { PodwrightError } from '@podwright/base';

/** Control frame types of SPDY/3.1 (draft-mbelshe-httpbis-spdy-00, section 2.6). */
export const FrameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const FLAG_FIN = 0x01;

/** Maximum size of a control frame. The largest ones carry a stream's headers; anything larger indicates an attack. */
const MAX_CONTROL_BYTES = 16 << 10;

/** A complete control frame, or one piece of a data frame as it arrives; `fin` is set only on the last piece. */
export type Frame =
  | { kind: 'control'; type: number; flags: number; payload: Buffer }
  | { kind: 'data'; streamId: number; payload: Buffer; fin: boolean };

const VERSION = 0x8003;

export function encodeControl(type: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(VERSION, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(payload.length, 4);
  head[4] = flags;
  return Buffer.concat([head, payload]);
}

/** Encodes a data frame's header. On the wire, the payload follows it. */
export function encodeDataHead(streamId: number, options: { fin: boolean; length: number }): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(streamId, 0);
  head.writeUInt32BE(options.length, 4);
  head[4] = options.fin ? FLAG_FIN : 0;
  return head;
}

export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * index);
  return bytes;
}

type OpenData = { streamId: number; fin: boolean; left: number };

/**
 * Splits a byte stream into frames. Data frames are delivered piece by piece, so that a large frame (up to 24 bits of length) does not have
 * to be buffered. Throws `invalid_argument` for anything other than SPDY/3; the connection cannot be used after that.
 */
export class FrameParser {
  #rest: Buffer = Buffer.alloc(0);
  #data: OpenData | undefined;

  *push(chunk: Buffer): Generator<Frame> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame;
  }

  #next(): Frame | undefined {
    if (this.#data !== undefined) return this.#rest.length === 0 ? undefined : this.#dataPiece(this.#data);
    if (this.#rest.length < 8) return undefined;
    const length = this.#rest.readUIntBE(5, 3);
    const flags = this.#rest[4]!;
    if ((this.#rest[0]! & 0x80) === 0) {
      const data = { streamId: this.#rest.readUInt32BE(0), fin: (flags & FLAG_FIN) !== 0, left: length };
      this.#take(8);
      if (length === 0) return { kind: 'data', streamId: data.streamId, payload: Buffer.alloc(0), fin: data.fin };
      this.#data = data;
      return this.#next();
    }
    return this.#control(flags, length);
  }

  #control(flags: number, length: number): Frame | undefined {
    const version = this.#rest.readUInt16BE(0);
    if (version !== VERSION)
      throw new PodwrightError(
        'invalid_argument',
        `read a SPDY frame: version ${version & 0x7fff}, only 3 is supported`,
      );
    if (length > MAX_CONTROL_BYTES) {
      throw new PodwrightError(
        'resource_exhausted',
        `read a SPDY frame: ${length} bytes of control data, at most ${MAX_CONTROL_BYTES} are accepted`,
      );
    }
    if (this.#rest.length < 8 + length) return undefined;
    const type = this.#rest.readUInt16BE(2);
    this.#take(8);
    return { kind: 'control', type, flags, payload: this.#take(length) };
  }

  #dataPiece(data: OpenData): Frame {
    const payload = this.#take(Math.min(data.left, this.#rest.length));
    data.left -= payload.length;
    const last = data.left === 0;
    if (last) this.#data = undefined;
    return { kind: 'data', streamId: data.streamId, payload, fin: last && data.fin };
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}
