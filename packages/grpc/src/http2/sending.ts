import { broken, END_CODE } from './end-codes.ts';
import type { FrameWriter } from './frame-writer.ts';
import {
  FIRST_WINDOW_BYTES,
  FLAG,
  FRAME_HEADER_BYTES,
  FRAME_TYPE,
  framedLength,
  headersLength,
  MAX_FRAME_BYTES,
  MOST_WINDOW_BYTES,
  putFrameHeader,
  putHeaders,
} from './frames.ts';
import type { Http2Stream } from './http2-stream.ts';

/** Maximum number of bytes sent for one stream before it is another stream's turn. */
const TURN_BYTES = 16 * MAX_FRAME_BYTES;
/** Maximum size of data that is copied next to its frame headers, which is faster than a separate write. */
const MOST_COPIED_BYTES = 2048;
/**
 * Table size update sent before the first header block, because this encoder does not use a dynamic table, whatever size the peer permits
 * (RFC 7541, 6.3).
 */
const NO_DYNAMIC_TABLE = Buffer.of(0x20);

/**
 * Sends the pending data of streams to the extent that the peer's windows (RFC 9113, 5.2) and the socket's buffer permit. The rest remains
 * pending in the stream.
 */
export class Sending {
  readonly #writer: FrameWriter;
  /** Called when a stream has nothing left to send and has been ended on this side. */
  readonly #onSendEnd: (stream: Http2Stream) => void;
  #windowBytes = FIRST_WINDOW_BYTES;
  #hasSentHeaders = false;
  /** Streams with pending data, except streams whose own window is exhausted. */
  readonly #waiting = new Set<Http2Stream>();

  constructor(writer: FrameWriter, onSendEnd: (stream: Http2Stream) => void) {
    this.#writer = writer;
    this.#onSendEnd = onSendEnd;
  }

  send(stream: Http2Stream): void {
    this.#waiting.add(stream);
    this.flush();
  }

  /** Changes a stream's send window by `bytes`, which may be negative. Throws `invalid_argument` if this exceeds the maximum window. */
  widenStream(stream: Http2Stream, bytes: number): void {
    stream.sendWindowBytes += bytes;
    if (stream.sendWindowBytes > MOST_WINDOW_BYTES) throw tooWide();
    if (stream.unsent.length === 0) return;
    this.#waiting.add(stream);
    if (this.#windowBytes > 0) this.flush();
  }

  /** Increases the connection's send window. */
  widen(bytes: number): void {
    this.#windowBytes += bytes;
    if (this.#windowBytes > MOST_WINDOW_BYTES) throw tooWide();
    this.flush();
  }

  /** Forgets a closed stream. */
  forget(stream: Http2Stream): void {
    this.#waiting.delete(stream);
  }

  /** Sends as much as is currently possible, taking turns between streams. */
  flush(): void {
    for (const stream of this.#waiting) {
      if (this.#writer.isBlocked) return;
      const size = Math.min(stream.unsent.length, this.#windowBytes, stream.sendWindowBytes, TURN_BYTES);
      if (size <= 0 && stream.unsent.length > 0 && stream.head === undefined) {
        if (stream.sendWindowBytes <= 0) this.#waiting.delete(stream);
        continue;
      }
      this.#waiting.delete(stream);
      this.#write(stream, Math.max(0, size));
      if (stream.unsent.length > 0) this.#waiting.add(stream);
      else this.#onWritten(stream);
    }
  }

  #onWritten(stream: Http2Stream): void {
    if (stream.isLast) this.#onSendEnd(stream);
    else stream.listener?.onSent?.();
  }

  #write(stream: Http2Stream, size: number): void {
    const { unsent, trailers, id: streamId } = stream;
    const head = this.#headOf(stream);
    const isAll = size === unsent.length;
    const tail = isAll ? trailers : undefined;
    const endStream = isAll && stream.isLast && tail === undefined;
    const isCopied = size <= MOST_COPIED_BYTES;
    const isEndAlone = endStream && size === 0 && head === undefined;
    const dataBytes = isEndAlone ? FRAME_HEADER_BYTES : framedLength(size) - (isCopied ? 0 : size);
    const bytes = Buffer.allocUnsafe(lengthOf(head) + dataBytes + lengthOf(tail));
    const pieces: Buffer[] = [];
    let [begin, at] = [0, 0];
    if (head !== undefined) at = putHeaders({ bytes, at }, head, { streamId, endStream: endStream && size === 0 });
    for (let offset = 0; offset < size; offset += MAX_FRAME_BYTES) {
      const end = Math.min(size, offset + MAX_FRAME_BYTES);
      const flags = endStream && end === size ? FLAG.endStream : 0;
      at = putFrameHeader({ bytes, at }, { type: FRAME_TYPE.data, flags, streamId, length: end - offset });
      if (isCopied) {
        at += unsent.copy(bytes, at, offset, end);
      } else {
        pieces.push(bytes.subarray(begin, at), unsent.subarray(offset, end));
        begin = at;
      }
    }
    if (isEndAlone)
      at = putFrameHeader({ bytes, at }, { type: FRAME_TYPE.data, flags: FLAG.endStream, streamId, length: 0 });
    if (tail !== undefined) at = putHeaders({ bytes, at }, tail, { streamId, endStream: true });
    if (at > begin) pieces.push(bytes.subarray(begin, at));
    this.#windowBytes -= size;
    stream.sent(size);
    this.#writer.write(...pieces);
  }

  #headOf({ head }: Http2Stream): Buffer | undefined {
    if (head === undefined || this.#hasSentHeaders) return head;
    this.#hasSentHeaders = true;
    return Buffer.concat([NO_DYNAMIC_TABLE, head]);
  }
}

const lengthOf = (block: Buffer | undefined) => (block === undefined ? 0 : headersLength(block));
const tooWide = () => broken('a window that is too large', END_CODE.flowControlError);
