/** The parts of HTTP/2 framing (RFC 9113, 4 and 6) that are needed to follow header blocks. */

/** What every HTTP/2 client sends first (RFC 9113, 3.4). */
export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export const FRAME_HEADER_BYTES = 9;

/** The largest payload that a peer may send unless told otherwise (SETTINGS_MAX_FRAME_SIZE). */
export const MAX_FRAME_BYTES = 16_384;

export const FRAME_TYPE = { headers: 1, settings: 4, continuation: 9 } as const;

/** A SETTINGS frame that changes nothing (RFC 9113, 6.5). */
export const EMPTY_SETTINGS = Buffer.from([0, 0, 0, FRAME_TYPE.settings, 0, 0, 0, 0, 0]);

const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** The fields of a frame header. */
export type FrameHeader = { length: number; type: number; flags: number; streamId: number };

/** Reads the nine bytes of a frame header. */
export function parseFrameHeader(bytes: Buffer): FrameHeader {
  return {
    length: bytes.readUIntBE(0, 3),
    type: bytes[3]!,
    flags: bytes[4]!,
    streamId: bytes.readUInt32BE(5) & 0x7f_ff_ff_ff,
  };
}

export const isSettingsAck = ({ type, flags }: FrameHeader): boolean =>
  type === FRAME_TYPE.settings && (flags & FLAG.ack) !== 0;
export const endsHeaders = ({ flags }: FrameHeader): boolean => (flags & FLAG.endHeaders) !== 0;
export const endsStream = ({ flags }: FrameHeader): boolean => (flags & FLAG.endStream) !== 0;

/** The part of a header block in the payload of a HEADERS frame, or `undefined` if its padding is wrong. */
export function headerBlockFragment({ flags }: FrameHeader, payload: Buffer): Buffer | undefined {
  const padded = (flags & FLAG.padded) !== 0;
  const start = (padded ? 1 : 0) + (flags & FLAG.priority ? 5 : 0);
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
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    header.writeUIntBE(fragment.length, 0, 3);
    header[3] = isFirst ? FRAME_TYPE.headers : FRAME_TYPE.continuation;
    header[4] = (isFirst && options.endStream ? FLAG.endStream : 0) | (isLast ? FLAG.endHeaders : 0);
    header.writeUInt32BE(options.streamId, 5);
    parts.push(header, fragment);
  }
  return Buffer.concat(parts);
}
