/** HTTP/2 frames (RFC 9113, 4 and 6). */
import { broken, END_CODE } from './end-codes.ts';

/** The connection preface of HTTP/2 clients (RFC 9113, 3.4). */
export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export const FRAME_HEADER_BYTES = 9;

/** Default maximum payload size that a peer may send (SETTINGS_MAX_FRAME_SIZE). */
export const MAX_FRAME_BYTES = 16_384;
/** Highest allowed value of SETTINGS_MAX_FRAME_SIZE. */
export const MOST_FRAME_BYTES = 2 ** 24 - 1;

/** Initial flow-control window of a stream or connection. A window can grow to at most `MOST_WINDOW_BYTES` (RFC 9113, 6.9). */
export const FIRST_WINDOW_BYTES = 65_535;
export const MOST_WINDOW_BYTES = 2 ** 31 - 1;

export const MOST_STREAM_ID = 2 ** 31 - 1;

export const FRAME_TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** The fields of a frame header. */
export type FrameHeader = { length: number; type: number; flags: number; streamId: number };

type SentHeader = Pick<FrameHeader, 'type'> & Partial<Omit<FrameHeader, 'length'>>;
/** A buffer of outgoing frames, and the position at which the next frame is written. */
type Position = { bytes: Buffer; at: number };

/** Encodes a frame. */
export function frame(header: SentHeader, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  putFrame({ bytes, at: 0 }, header, payload);
  return bytes;
}

function putFrame({ bytes, at }: Position, header: SentHeader, payload: Uint8Array): number {
  const next = putFrameHeader({ bytes, at }, { ...header, length: payload.length });
  bytes.set(payload, next);
  return next + payload.length;
}

/** Writes the nine bytes of a frame header; returns the position of the payload. */
export function putFrameHeader(
  { bytes, at }: Position,
  { length, type, flags = 0, streamId = 0 }: SentHeader & { length: number },
): number {
  bytes.writeUInt32BE(length * 0x100 + type, at);
  bytes[at + 4] = flags;
  bytes.writeUInt32BE(streamId, at + 5);
  return at + FRAME_HEADER_BYTES;
}

/** Encodes a frame whose payload is one 32-bit number: a window increment or an error code. */
export function numberFrame(header: SentHeader, value: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(value, 0);
  return frame(header, payload);
}

/** Reads the nine bytes of a frame header. */
export function parseFrameHeader(bytes: Buffer): FrameHeader {
  const lengthAndType = bytes.readUInt32BE(0);
  return {
    length: lengthAndType >>> 8,
    type: lengthAndType & 0xff,
    flags: bytes[4]!,
    streamId: bytes.readUInt32BE(5) & 0x7f_ff_ff_ff,
  };
}

export const isAck = ({ flags }: FrameHeader): boolean => (flags & FLAG.ack) !== 0;
export const endsHeaders = ({ flags }: FrameHeader): boolean => (flags & FLAG.endHeaders) !== 0;
export const endsStream = ({ flags }: FrameHeader): boolean => (flags & FLAG.endStream) !== 0;

/**
 * Returns the payload of a DATA or HEADERS frame (data or a header block fragment) without padding and priority fields. Returns `undefined`
 * if the padding is invalid.
 */
export function unpadded({ type, flags }: FrameHeader, payload: Buffer): Buffer | undefined {
  const padded = (flags & FLAG.padded) !== 0;
  const start = (padded ? 1 : 0) + (type === FRAME_TYPE.headers && flags & FLAG.priority ? 5 : 0);
  const end = payload.length - (padded ? (payload[0] ?? 0) : 0);
  return start <= end ? payload.subarray(start, end) : undefined;
}

/** Returns the total length in bytes of data that is sent in frames, including the frame headers. */
export const framedLength = (bytes: number): number => bytes + FRAME_HEADER_BYTES * Math.ceil(bytes / MAX_FRAME_BYTES);

/** Returns the total length in bytes of a header block that is sent in frames, including the frame headers. */
export const headersLength = (block: Buffer): number => Math.max(FRAME_HEADER_BYTES, framedLength(block.length));

/** Writes a header block as a HEADERS frame and, if needed, CONTINUATION frames; returns the position of the next frame. */
export function putHeaders(
  { bytes, at }: Position,
  block: Buffer,
  { streamId, endStream }: { streamId: number; endStream: boolean },
): number {
  let next = at;
  for (let offset = 0; offset === 0 || offset < block.length; offset += MAX_FRAME_BYTES) {
    const isLast = offset + MAX_FRAME_BYTES >= block.length;
    const type = offset === 0 ? FRAME_TYPE.headers : FRAME_TYPE.continuation;
    const flags = (offset === 0 && endStream ? FLAG.endStream : 0) | (isLast ? FLAG.endHeaders : 0);
    next = putFrame({ bytes, at: next }, { type, flags, streamId }, block.subarray(offset, offset + MAX_FRAME_BYTES));
  }
  return next;
}

/** Encodes a header block as frames. */
export function headersFrames(block: Buffer, options: { streamId: number; endStream: boolean }): Buffer {
  const bytes = Buffer.allocUnsafe(headersLength(block));
  putHeaders({ bytes, at: 0 }, block, options);
  return bytes;
}

/** Constraints on each frame type (RFC 9113, 6): its payload length, and whether it must belong to a stream. */
const SHAPES: readonly { bytes?: number; isOfStream: boolean | undefined }[] = [
  { isOfStream: true },
  { isOfStream: true },
  { isOfStream: true, bytes: 5 },
  { isOfStream: true, bytes: 4 },
  { isOfStream: false },
  { isOfStream: true },
  { isOfStream: false, bytes: 8 },
  { isOfStream: false },
  { isOfStream: undefined, bytes: 4 },
  { isOfStream: true },
];
/** Minimum payload size of a GOAWAY frame. Debug data may follow. */
const LEAST_GOAWAY_BYTES = 8;

/** Throws `invalid_argument` for a frame that violates the constraints on its type. Unknown types are not checked. */
export function checkShape({ type, length, flags, streamId }: FrameHeader): void {
  const shape = SHAPES[type];
  if (shape === undefined) return;
  const { bytes = length, isOfStream = streamId !== 0 } = shape;
  const isShort = type === FRAME_TYPE.goAway && length < LEAST_GOAWAY_BYTES;
  const hasAckPayload = type === FRAME_TYPE.settings && flags & FLAG.ack && length > 0;
  if (length !== bytes || isShort || hasAckPayload)
    throw broken(`a frame of type ${type} with ${length} bytes`, END_CODE.frameSizeError);
  if ((streamId !== 0) !== isOfStream) throw broken(`a frame of type ${type} on stream ${streamId}`);
}
