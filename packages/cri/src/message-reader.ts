import { BoundedBytes, PodwrightError } from '@podwright/base';
import { MAX_MESSAGE_BYTES } from './limits.ts';

/** A flag, which says whether the message is compressed, and the length of what follows. */
export const PREFIX_BYTES = 5;

/**
 * Cuts the body of a call into its messages ("Length-Prefixed-Message" of
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Throws `resource_exhausted` for one that is too large, as soon as its
 * length is known, and `unimplemented` for one that is compressed.
 */
export class MessageReader {
  readonly #maxBytes: number;
  /** What has come of a message that is not whole; its length was looked at. */
  #begun = begun();

  constructor(maxBytes = MAX_MESSAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Takes the next bytes, which may be used again afterwards; returns the messages that are whole by now. */
  push(chunk: Buffer): Buffer[] {
    const isContinued = this.#begun.sizeBytes > 0;
    if (isContinued) this.#begun.add(chunk);
    let rest = isContinued ? this.#begun.bytes() : chunk;
    const messages: Buffer[] = [];
    while (rest.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + messageLength(rest, this.#maxBytes);
      if (rest.length < end) break;
      const message = rest.subarray(PREFIX_BYTES, end);
      messages.push(isContinued ? message : Buffer.from(message));
      rest = rest.subarray(end);
    }
    if (isContinued && messages.length === 0) return messages;
    this.#begun = begun();
    this.#begun.add(rest);
    return messages;
  }
}

/** In one buffer: a list of chunks would take a hundred bytes and more for each, however short the client makes them. */
const begun = () => new BoundedBytes(Number.POSITIVE_INFINITY);

function messageLength(bytes: Buffer, maxBytes: number): number {
  if (bytes[0] !== 0) throw new PodwrightError('unimplemented', 'compressed messages are not understood here');
  const length = bytes.readUInt32BE(1);
  if (length <= maxBytes) return length;
  throw new PodwrightError(
    'resource_exhausted',
    `the message has ${length} bytes, more than the ${maxBytes} that it may have`,
  );
}

/** A message as it is sent. */
export function withPrefix(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX_BYTES);
  return bytes;
}
