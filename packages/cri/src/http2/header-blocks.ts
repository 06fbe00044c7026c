import { BoundedBytes, PodwrightError } from '@podwright/base';
import { broken, endsHeaders, endsStream, FRAME_TYPE, type FrameHeader, unpadded } from './frames.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import type { HeaderField } from './static-table.ts';

/** The dynamic table that a peer may count on unless it is told otherwise (SETTINGS_HEADER_TABLE_SIZE). */
const TABLE_BYTES = 4096;
/** The largest list of headers, and block of them (SETTINGS_MAX_HEADER_LIST_SIZE). Messages of errors are in one, and may be long. */
export const MAX_HEADER_LIST_BYTES = 1 << 20;
/** Frames of one header block; beyond the size, because CONTINUATION frames may be empty. */
const BLOCK_FRAMES = 80;

/** A header block of a stream, decoded. */
export type Headers = { streamId: number; fields: HeaderField[]; endsStream: boolean };

/** Puts the header blocks together that a peer sends, and decodes them. */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder({ tableBytes: TABLE_BYTES, listBytes: MAX_HEADER_LIST_BYTES });
  readonly #bytes = new BoundedBytes(MAX_HEADER_LIST_BYTES);
  #begun: { first: FrameHeader; frames: number } | undefined;

  /**
   * Sees every frame; returns the block that it ends, if it ends one. Throws `invalid_argument` for what HTTP/2 does not allow and
   * `resource_exhausted` for a block that is too large; the connection is of no use after that.
   */
  take(header: FrameHeader, payload: Buffer): Headers | undefined {
    const isContinuation = header.type === FRAME_TYPE.continuation;
    if (isContinuation !== (this.#begun !== undefined)) throw broken('a header block torn apart');
    if (!isContinuation && header.type !== FRAME_TYPE.headers) return undefined;
    const { first, frames } = this.#begun ?? { first: header, frames: 0 };
    const fragment = isContinuation ? payload : unpadded(header, payload);
    if (first.streamId !== header.streamId || fragment === undefined) throw broken('a header block that is none');
    this.#bytes.add(fragment);
    if (this.#bytes.isCut || frames === BLOCK_FRAMES)
      throw new PodwrightError('resource_exhausted', 'HTTP/2: a header block that is too large');
    this.#begun = { first, frames: frames + 1 };
    if (!endsHeaders(header)) return undefined;
    const fields = this.#decoder.decode(this.#bytes.bytes());
    this.#begun = undefined;
    this.#bytes.clear();
    return { streamId: first.streamId, fields, endsStream: endsStream(first) };
  }
}
