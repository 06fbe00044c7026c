import { BoundedBytes } from '@podwright/base';
import { broken, END_CODE } from './end-codes.ts';
import { FRAME_HEADER_BYTES, type FrameHeader, MAX_FRAME_BYTES, parseFrameHeader } from './frames.ts';

/** Splits the bytes received from a peer into frames. */
export class FrameReader {
  readonly #onFrame: (header: FrameHeader, payload: Buffer) => void;
  /** The part of an incomplete frame received so far. The frame's length has already been checked. */
  readonly #begun = new BoundedBytes(Number.POSITIVE_INFINITY);

  /** `onFrame` must not retain the payload after it returns. */
  constructor(onFrame: (header: FrameHeader, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** Reads the next chunk of the connection. The caller may reuse the buffer afterwards. Throws `invalid_argument` for a frame that is too large. */
  push(chunk: Buffer): void {
    const isContinued = this.#begun.sizeBytes > 0;
    if (isContinued) this.#begun.add(chunk);
    let rest = isContinued ? this.#begun.bytes() : chunk;
    while (rest.length >= FRAME_HEADER_BYTES) {
      const header = parseFrameHeader(rest);
      if (header.length > MAX_FRAME_BYTES) throw broken(`a frame of ${header.length} bytes`, END_CODE.frameSizeError);
      const end = FRAME_HEADER_BYTES + header.length;
      if (rest.length < end) break;
      this.#onFrame(header, rest.subarray(FRAME_HEADER_BYTES, end));
      rest = rest.subarray(end);
    }
    this.#begun.clear();
    this.#begun.add(rest);
  }
}
