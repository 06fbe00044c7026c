import { BoundedBytes, PodwrightError } from '@podwright/base';
import { MAX_MESSAGE_BYTES } from './limits.ts';

/** Length of a message's prefix: a flag byte (1 if the message is compressed), and the length of the message in four bytes. */
export const PREFIX_BYTES = 5;
/** Maximum size of the buffer allocated when a message's length is received, because a peer might announce more bytes than it sends. */
const MAX_INITIAL_BYTES = 256 << 10;

/**
 * Splits the body of a call into its messages ("Length-Prefixed-Message" in
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Throws `resource_exhausted` for a message that is too large as soon as
 * its prefix has been read, and `unimplemented` for a compressed one.
 */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #isRaw: boolean;
  /** The received part of an incomplete message, whose length has already been checked against `#maxBytes`. */
  #begun = begun();

  /**
   * `isRaw`: the returned messages include their prefixes, are possibly compressed, and might share memory with the chunks passed to
   * `push`.
   */
  constructor(maxBytes = MAX_MESSAGE_BYTES, { isRaw = false }: { isRaw?: boolean } = {}) {
    this.#maxBytes = maxBytes;
    this.#isRaw = isRaw;
  }

  /**
   * Adds the next bytes of the body and returns the messages that they complete. Unless `isRaw`, the caller may overwrite the bytes
   * afterwards.
   */
  push(chunk: Buffer): Buffer[] {
    const isContinued = this.#begun.sizeBytes > 0;
    if (isContinued) this.#begun.add(chunk);
    let rest = isContinued ? this.#begun.bytes() : chunk;
    const messages: Buffer[] = [];
    while (rest.length >= PREFIX_BYTES) {
      if (!this.#isRaw && rest[0] !== 0)
        throw new PodwrightError('unimplemented', 'compressed messages are not supported');
      const end = PREFIX_BYTES + messageLength(rest, this.#maxBytes);
      if (rest.length < end) break;
      const message = rest.subarray(this.#isRaw ? 0 : PREFIX_BYTES, end);
      messages.push(isContinued || this.#isRaw ? message : Buffer.from(message));
      rest = rest.subarray(end);
    }
    if (isContinued && messages.length === 0) return messages;
    this.#begun = begun(rest.length < PREFIX_BYTES ? 0 : PREFIX_BYTES + messageLength(rest, this.#maxBytes));
    this.#begun.add(rest);
    return messages;
  }
}

/**
 * Creates the buffer for an incomplete message: one buffer rather than a list of chunks, because each chunk object takes a hundred bytes or
 * more, so a peer that sends one byte at a time would use up memory.
 */
const begun = (sizeBytes = 0) =>
  new BoundedBytes(
    Number.POSITIVE_INFINITY,
    undefined,
    sizeBytes === 0 ? undefined : Math.min(sizeBytes, MAX_INITIAL_BYTES),
  );

function messageLength(bytes: Buffer, maxBytes: number): number {
  const length = bytes.readUInt32BE(1);
  if (length <= maxBytes) return length;
  throw new PodwrightError(
    'resource_exhausted',
    `the message has ${length} bytes, more than the ${maxBytes} that it may have`,
  );
}

/**
 * Returns the initial size of a call's receive buffer, given the first bytes received: large enough for the first message (up to 256 KiB),
 * so that the buffer does not have to be reallocated as it grows. Returns `undefined` if the prefix is incomplete.
 */
export function bytesOfFirstMessage(bytes: Buffer): number | undefined {
  if (bytes.length < PREFIX_BYTES) return undefined;
  return Math.max(bytes.length, Math.min(PREFIX_BYTES + bytes.readUInt32BE(1), MAX_INITIAL_BYTES));
}

/** Encodes a message with its prefix. */
export function withPrefix(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX_BYTES);
  return bytes;
}
