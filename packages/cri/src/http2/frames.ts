/** The frames of HTTP/2 (RFC 9113, 4 and 6). */
import { PodwrightError } from '@podwright/base';

/** What every HTTP/2 client sends first (RFC 9113, 3.4). */
export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export const FRAME_HEADER_BYTES = 9;

/** The largest payload that a peer may send unless told otherwise (SETTINGS_MAX_FRAME_SIZE). */
export const MAX_FRAME_BYTES = 16_384;

/** The window of a stream or a connection until somebody changes it, and the widest (RFC 9113, 6.9). */
export const FIRST_WINDOW_BYTES = 65_535;
export const MOST_WINDOW_BYTES = 2 ** 31 - 1;

export const FRAME_TYPE = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** A SETTINGS frame that changes nothing (RFC 9113, 6.5). */
export const EMPTY_SETTINGS = Buffer.from([0, 0, 0, FRAME_TYPE.settings, 0, 0, 0, 0, 0]);

export const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Why a stream or a connection ends (RFC 9113, 7): those that somebody looks for. */
export const END_CODE = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  refusedStream: 7,
  cancel: 8,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
} as const;

/** What a peer has sent that HTTP/2 does not allow. */
export const broken = (what: string): PodwrightError => new PodwrightError('invalid_argument', `HTTP/2: ${what}`);

/** The fields of a frame header. */
export type FrameHeader = { length: number; type: number; flags: number; streamId: number };

/** A frame as it is sent. */
export function frame(
  { type, flags = 0, streamId = 0 }: Pick<FrameHeader, 'type'> & Partial<FrameHeader>,
  payload: Uint8Array = new Uint8Array(0),
): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUInt32BE(payload.length * 0x100 + type, 0);
  bytes[4] = flags;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, FRAME_HEADER_BYTES);
  return bytes;
}

/** A frame whose payload is one number of 32 bits: what is added to a window, or why a stream is reset. */
export function numberFrame(header: Pick<FrameHeader, 'type'> & Partial<FrameHeader>, value: number): Buffer {
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
export const isSettingsAck = (header: FrameHeader): boolean => header.type === FRAME_TYPE.settings && isAck(header);
export const endsHeaders = ({ flags }: FrameHeader): boolean => (flags & FLAG.endHeaders) !== 0;
export const endsStream = ({ flags }: FrameHeader): boolean => (flags & FLAG.endStream) !== 0;

/**
 * The payload of a DATA or HEADERS frame without padding and priority: data, or a part of a header block. `undefined` if the padding is
 * wrong.
 */
export function unpadded({ type, flags }: FrameHeader, payload: Buffer): Buffer | undefined {
  const padded = (flags & FLAG.padded) !== 0;
  const start = (padded ? 1 : 0) + (type === FRAME_TYPE.headers && flags & FLAG.priority ? 5 : 0);
  const end = payload.length - (padded ? (payload[0] ?? 0) : 0);
  return start <= end ? payload.subarray(start, end) : undefined;
}

/** The HEADERS frame, and the CONTINUATION frames if it takes more, of a header block. */
export function headersFrames(block: Buffer, options: { streamId: number; endStream: boolean }): Buffer {
  const parts: Buffer[] = [];
  for (let offset = 0; offset === 0 || offset < block.length; offset += MAX_FRAME_BYTES) {
    const fragment = block.subarray(offset, offset + MAX_FRAME_BYTES);
    const isFirst = offset === 0;
    const isLast = offset + MAX_FRAME_BYTES >= block.length;
    const type = isFirst ? FRAME_TYPE.headers : FRAME_TYPE.continuation;
    const flags = (isFirst && options.endStream ? FLAG.endStream : 0) | (isLast ? FLAG.endHeaders : 0);
    parts.push(frame({ type, flags, streamId: options.streamId }, fragment));
  }
  return Buffer.concat(parts);
}
