import { BoundedBytes, PodwrightError } from '@podwright/base';
import { broken } from './end-codes.ts';
import { endsHeaders, endsStream, FRAME_TYPE, type FrameHeader, MAX_FRAME_BYTES, unpadded } from './frames.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import type { HeaderField } from './static-table.ts';

/** Default size of the HPACK decoder's dynamic table (SETTINGS_HEADER_TABLE_SIZE). */
const TABLE_BYTES = 4096;
/** Number of additional frames allowed per header block, because CONTINUATION frames may be empty. */
const MORE_FRAMES = 16;

/** A decoded header block and the stream that it belongs to. */
export type Headers = { streamId: number; fields: HeaderField[]; endsStream: boolean };

/** Assembles and decodes the header blocks sent by a peer. */
export class HeaderBlocks {
  readonly #decoder: HpackDecoder;
  readonly #bytes: BoundedBytes;
  readonly #maxFrames: number;
  #begun: { first: FrameHeader; frames: number } | undefined;

  /** `listBytes` bounds both the header list and its encoded block (SETTINGS_MAX_HEADER_LIST_SIZE). */
  constructor(listBytes: number) {
    this.#decoder = new HpackDecoder({ tableBytes: TABLE_BYTES, listBytes });
    this.#bytes = new BoundedBytes(listBytes);
    this.#maxFrames = listBytes / MAX_FRAME_BYTES + MORE_FRAMES;
  }

  /**
   * Must be called with every received frame. Returns the header block completed by the frame, if any. Throws `invalid_argument` for a
   * protocol violation, and `resource_exhausted` for a header block that is too large. The connection must not be used after an error.
   */
  take(header: FrameHeader, payload: Buffer): Headers | undefined {
    const isContinuation = header.type === FRAME_TYPE.continuation;
    if (isContinuation !== (this.#begun !== undefined)) throw broken('a header block torn apart');
    if (!isContinuation && header.type !== FRAME_TYPE.headers) return undefined;
    const { first, frames } = this.#begun ?? { first: header, frames: 0 };
    const fragment = isContinuation ? payload : unpadded(header, payload);
    if (first.streamId !== header.streamId || fragment === undefined) throw broken('a malformed header block');
    if (frames === 0 && endsHeaders(header)) return this.#headers(first, fragment);
    this.#bytes.add(fragment);
    if (this.#bytes.isCut || frames >= this.#maxFrames)
      throw new PodwrightError('resource_exhausted', 'HTTP/2: a header block that is too large');
    this.#begun = { first, frames: frames + 1 };
    if (!endsHeaders(header)) return undefined;
    const headers = this.#headers(first, this.#bytes.bytes());
    this.#begun = undefined;
    this.#bytes.clear();
    return headers;
  }

  #headers(first: FrameHeader, block: Buffer): Headers {
    return { streamId: first.streamId, fields: this.#decoder.decode(block), endsStream: endsStream(first) };
  }
}
