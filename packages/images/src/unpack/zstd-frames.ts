import { PodwrightError } from '@podwright/base';

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE_BLOCK = 1;

/** What comes next in a zstd stream: a number of bytes to pass through, and then a frame header or a block header. */
type Step = { bytes: number; next: 'frame' | 'block' };

/**
 * Splits a zstd stream at its frame boundaries (RFC 8878, section 3.1), because node:zlib ignores any further frames in the same chunk, and
 * seekable layers have one frame per file. The iteration throws `data_loss` if the stream is truncated or is not zstd.
 */
export async function* splitFrames(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  const walker = new FrameWalker();
  for await (const chunk of stream) {
    let start = 0;
    for (let at = 0; at < chunk.length; ) {
      const { bytes, endsFrame } = walker.take(chunk.subarray(at));
      at += bytes;
      if (!endsFrame) continue;
      yield chunk.subarray(start, at);
      start = at;
    }
    if (start < chunk.length) yield chunk.subarray(start);
  }
  walker.checkEnd();
}

/** Number of bytes consumed from a chunk of the zstd stream, and whether a frame ends there. */
type Taken = { bytes: number; endsFrame: boolean };

/** Parses zstd frame and block headers, which may be split across chunks. */
class FrameWalker {
  #header: number[] = [];
  #expect: 'frame' | 'block' = 'frame';
  #left = 0;
  #hasChecksum = false;

  take(chunk: Buffer): Taken {
    if (this.#left > 0) {
      const bytes = Math.min(this.#left, chunk.length);
      this.#left -= bytes;
      return { bytes, endsFrame: this.#left === 0 && this.#expect === 'frame' };
    }
    this.#header.push(chunk[0]!);
    const step = this.#expect === 'frame' ? this.#frameHeader() : this.#blockHeader();
    if (step === undefined) return { bytes: 1, endsFrame: false };
    this.#header = [];
    this.#left = step.bytes;
    this.#expect = step.next;
    return { bytes: 1, endsFrame: this.#left === 0 && step.next === 'frame' };
  }

  checkEnd(): void {
    if (this.#left > 0 || this.#expect === 'block' || this.#header.length > 0)
      throw damaged('it ends in the middle of a frame');
  }

  /** Parses the magic number and the frame header, whose length depends on its first byte. */
  #frameHeader(): Step | undefined {
    if (this.#header.length < 5) return undefined;
    const bytes = Buffer.from(this.#header);
    const magic = bytes.readUInt32LE(0);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      if (bytes.length < 8) return undefined;
      return { bytes: bytes.readUInt32LE(4), next: 'frame' };
    }
    if (magic !== FRAME_MAGIC) throw damaged('other data follows its frames');
    const descriptor = bytes[4]!;
    const singleSegment = (descriptor >> 5) & 1;
    const sizeFlag = descriptor >> 6;
    const contentSize = sizeFlag === 0 ? singleSegment : 1 << sizeFlag;
    const dictionaryId = [0, 1, 2, 4][descriptor & 3]!;
    this.#hasChecksum = (descriptor & 4) !== 0;
    return { bytes: 1 - singleSegment + dictionaryId + contentSize, next: 'block' };
  }

  #blockHeader(): Step | undefined {
    if (this.#header.length < BLOCK_HEADER_BYTES) return undefined;
    const header = Buffer.from(this.#header).readUIntLE(0, BLOCK_HEADER_BYTES);
    const isLast = (header & 1) === 1;
    const bytes = ((header >> 1) & 3) === RLE_BLOCK ? 1 : header >> 3;
    if (!isLast) return { bytes, next: 'block' };
    return { bytes: bytes + (this.#hasChecksum ? CHECKSUM_BYTES : 0), next: 'frame' };
  }
}

function damaged(message: string): PodwrightError {
  return new PodwrightError('data_loss', `unpack layer: its zstd stream is damaged or truncated: ${message}`);
}
