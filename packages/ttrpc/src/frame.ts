/** Length of a frame header: data length, stream ID, type, flags (ttrpc PROTOCOL.md, "Message Frame"). */
const HEADER_BYTES = 10;

/** Maximum length of a frame's data. */
export const MAX_FRAME_BYTES = 4 << 20;

export const frameType = { request: 1, response: 2, data: 3 } as const;

export type Frame = {
  /** Stream ID: odd for streams opened by a client. */
  streamId: number;
  /** Frame type: one of `frameType`, or a type of a later protocol version. */
  type: number;
  flags: number;
  /**
   * The frame's data; `undefined` if it was larger than `MAX_FRAME_BYTES`, in which case it is skipped, and the connection remains usable.
   */
  data: Buffer | undefined;
};

/** Encodes a frame. The data must not exceed `MAX_FRAME_BYTES`. */
export function encodeFrame({ streamId, type, flags, data }: Omit<Frame, 'data'> & { data: Uint8Array }): Buffer {
  if (data.length > MAX_FRAME_BYTES) throw new RangeError(`a frame of ${data.length} bytes`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + data.length);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(streamId, 4);
  frame.writeUInt8(type, 8);
  frame.writeUInt8(flags, 9);
  frame.set(data, HEADER_BYTES);
  return frame;
}

/** Decodes frames from chunks of any size. Buffers at most one frame, and skips data that exceeds the maximum size. */
export class FrameDecoder {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerSize = 0;
  /** The frame whose data is being read, and the number of bytes still missing. */
  #current: { frame: Frame; left: number } | undefined;

  /** Yields the frames that this chunk completes. */
  *push(chunk: Buffer): Generator<Frame> {
    let rest = chunk;
    while (rest.length > 0) {
      rest = this.#current === undefined ? this.#readHeader(rest) : this.#readData(this.#current, rest);
      if (this.#current?.left !== 0) continue;
      yield this.#current.frame;
      this.#current = undefined;
    }
  }

  /** Whether a frame is incomplete. If no more bytes follow, the peer's data has been truncated. */
  get inFrame(): boolean {
    return this.#headerSize > 0 || this.#current !== undefined;
  }

  /** Consumes header bytes and returns the remaining bytes. */
  #readHeader(bytes: Buffer): Buffer {
    const size = bytes.copy(this.#header, this.#headerSize);
    this.#headerSize += size;
    if (this.#headerSize < HEADER_BYTES) return bytes.subarray(size);
    this.#headerSize = 0;
    const left = this.#header.readUInt32BE(0);
    const data = left > MAX_FRAME_BYTES ? undefined : Buffer.allocUnsafe(left);
    const [type, flags] = [this.#header.readUInt8(8), this.#header.readUInt8(9)];
    this.#current = { frame: { streamId: this.#header.readUInt32BE(4), type, flags, data }, left };
    return bytes.subarray(size);
  }

  #readData(current: { frame: Frame; left: number }, bytes: Buffer): Buffer {
    const size = Math.min(current.left, bytes.length);
    const { data } = current.frame;
    if (data !== undefined) bytes.copy(data, data.length - current.left, 0, size);
    current.left -= size;
    return bytes.subarray(size);
  }
}
