import { PodwrightError } from '@podwright/base';
import {
  CLIENT_PREFACE,
  endsHeaders,
  endsStream,
  FRAME_HEADER_BYTES,
  FRAME_TYPE,
  type FrameHeader,
  headersFrames,
  isSettingsAck,
  MAX_FRAME_BYTES,
  parseFrameHeader,
  unpadded,
} from '../../http2/frames.ts';
import { HpackDecoder } from '../../http2/hpack-decoder.ts';
import { encodeLiterals } from '../../http2/hpack-encoder.ts';
import { hasValidAuthority, withValidAuthority } from './authority-header.ts';

/** The size of the dynamic table that node:http2 offers its peers (SETTINGS_HEADER_TABLE_SIZE). */
const TABLE_BYTES = 4096;
/** A header list of the CRI has some hundred bytes; nghttp2 itself stops at 64 KiB. */
const LIST_BYTES = 65_536;
const BLOCK_BYTES = 65_536;
/** Frames of one header block; beyond the size, because CONTINUATION frames may be empty. */
const BLOCK_FRAMES = 16;

/**
 * Where the rewriter is in what a client sends:
 *
 *     preface ──▶ frame ⇄ payload ──▶ passing (requests are in order: nothing is looked at any more)
 *                   ⇅
 *                 block (frames of a header block, all of them held back until its end)
 */
type State =
  | { at: 'preface' }
  | { at: 'frame' }
  | { at: 'payload'; left: number }
  | { at: 'block'; frame: FrameHeader }
  | { at: 'passing' };

/** A header block that has begun: the frame that began it, its fragments, and its frames as they came. */
type Block = { first: FrameHeader; fragments: Buffer[]; raw: Buffer[]; bytes: number };

/**
 * Follows what one client sends and gives its requests an `:authority` that node:http2 accepts. gRPC clients from
 * before 2023 put the path of the unix socket there, or nothing.
 *
 * Whether a connection needs that is decided by its first request: if that is in order, everything passes unread
 * from then on. Otherwise every header block is decoded (the blocks depend on each other) and sent on as literals.
 *
 * The client was sent empty settings before the server's own, because some clients make no request before they have seen
 * settings. Its answer to those is taken out: the server knows nothing of them.
 */
export class AuthorityRewriter {
  #state: State = { at: 'preface' };
  /** Bytes of the preface, a frame header or a header frame that is not complete yet. */
  #pending: Buffer = Buffer.alloc(0);
  #block: Block | undefined;
  #verdict: 'in order' | 'rewritten' | undefined;
  #acknowledged = false;
  readonly #decoder = new HpackDecoder({ tableBytes: TABLE_BYTES, listBytes: LIST_BYTES });

  /** True once the client has shown that it speaks HTTP/2. */
  get begun(): boolean {
    return this.#state.at !== 'preface';
  }

  /** True once all that is still to come passes as it is. */
  get passing(): boolean {
    return this.#state.at === 'passing';
  }

  /** True once the client has made a request that had to be changed. */
  get rewriting(): boolean {
    return this.#verdict === 'rewritten';
  }

  /**
   * Takes what the client sent and returns what goes on to the server. Throws if it breaks HTTP/2 or a limit; the
   * connection has to be ended then.
   */
  push(chunk: Buffer): Buffer[] {
    const output: Buffer[] = [];
    let rest = chunk;
    while (rest.length > 0) rest = this.#step(rest, output);
    return output;
  }

  /** Consumes a part of `input` and returns the rest. */
  #step(input: Buffer, output: Buffer[]): Buffer {
    switch (this.#state.at) {
      case 'passing':
        output.push(input);
        return input.subarray(input.length);
      case 'payload':
        return this.#passPayload(input, this.#state.left, output);
      case 'preface':
        return this.#collect(input, CLIENT_PREFACE.length, (preface) => {
          if (!preface.equals(CLIENT_PREFACE)) throw new PodwrightError('invalid_argument', 'not an HTTP/2 client');
          output.push(preface);
          this.#state = { at: 'frame' };
        });
      case 'frame':
        return this.#collect(input, FRAME_HEADER_BYTES, (bytes) => this.#beginFrame(bytes, output));
      case 'block': {
        const { frame } = this.#state;
        return this.#collect(input, frame.length, (payload) => this.#addToBlock(frame, payload, output));
      }
    }
  }

  #passPayload(input: Buffer, left: number, output: Buffer[]): Buffer {
    const part = input.subarray(0, left);
    output.push(part);
    this.#state = part.length < left ? { at: 'payload', left: left - part.length } : { at: 'frame' };
    return input.subarray(part.length);
  }

  /** Gathers `size` bytes, over as many chunks as it takes, and hands them to `use`. */
  #collect(input: Buffer, size: number, use: (bytes: Buffer) => void): Buffer {
    const missing = size - this.#pending.length;
    const part = input.subarray(0, missing);
    this.#pending = this.#pending.length === 0 ? part : Buffer.concat([this.#pending, part]);
    if (part.length < missing) return input.subarray(part.length);
    const bytes = this.#pending;
    this.#pending = Buffer.alloc(0);
    use(bytes);
    return input.subarray(part.length);
  }

  #beginFrame(bytes: Buffer, output: Buffer[]): void {
    const frame = parseFrameHeader(bytes);
    if (frame.length > MAX_FRAME_BYTES) {
      throw new PodwrightError('resource_exhausted', `HTTP/2 frame of ${frame.length} bytes`);
    }
    const isContinuation = frame.type === FRAME_TYPE.continuation;
    if (
      isContinuation !== (this.#block !== undefined) ||
      (this.#block?.first.streamId ?? frame.streamId) !== frame.streamId
    ) {
      throw new PodwrightError('invalid_argument', 'HTTP/2 header block torn apart');
    }
    if (!isContinuation && frame.type !== FRAME_TYPE.headers) {
      this.#beginOther(frame, bytes, output);
      return;
    }
    this.#block ??= { first: frame, fragments: [], raw: [], bytes: 0 };
    this.#block.raw.push(bytes);
    if (frame.length > 0) this.#state = { at: 'block', frame };
    else this.#addToBlock(frame, Buffer.alloc(0), output);
  }

  /** A frame that is no part of a header block passes, but for the first acknowledgement of settings. */
  #beginOther(frame: FrameHeader, bytes: Buffer, output: Buffer[]): void {
    this.#state = frame.length > 0 ? { at: 'payload', left: frame.length } : { at: 'frame' };
    if (this.#acknowledged || !isSettingsAck(frame) || frame.length > 0) {
      output.push(bytes);
      return;
    }
    this.#acknowledged = true;
    this.#settle();
  }

  #addToBlock(frame: FrameHeader, payload: Buffer, output: Buffer[]): void {
    const block = this.#block!;
    const fragment = frame.type === FRAME_TYPE.headers ? unpadded(frame, payload) : payload;
    if (fragment === undefined) throw new PodwrightError('invalid_argument', 'HTTP/2 padding longer than its frame');
    block.fragments.push(fragment);
    block.raw.push(payload);
    block.bytes += fragment.length;
    if (block.bytes > BLOCK_BYTES || block.fragments.length > BLOCK_FRAMES) {
      throw new PodwrightError(
        'resource_exhausted',
        `HTTP/2 header block of more than ${BLOCK_BYTES} bytes or ${BLOCK_FRAMES} frames`,
      );
    }
    this.#state = { at: 'frame' };
    if (endsHeaders(frame)) this.#finishBlock(block, output);
  }

  #finishBlock({ first, fragments, raw }: Block, output: Buffer[]): void {
    this.#block = undefined;
    const fields = this.#decoder.decode(Buffer.concat(fragments));
    if (this.#verdict !== 'rewritten' && hasValidAuthority(fields)) {
      output.push(...raw);
      this.#verdict = 'in order';
      this.#settle();
      return;
    }
    this.#verdict = 'rewritten';
    const block = encodeLiterals(withValidAuthority(fields));
    output.push(headersFrames(block, { streamId: first.streamId, endStream: endsStream(first) }));
  }

  /** Nothing is left to look for once the requests are in order and the answer to the first settings is out. */
  #settle(): void {
    if (this.#acknowledged && this.#verdict === 'in order') this.#state = { at: 'passing' };
  }
}
