import { PodwrightError } from '@podwright/base';
import { MAX_MESSAGE_BYTES } from '../limits.ts';

/** A flag, which says whether the message is compressed, and the length of what follows. */
const PREFIX_BYTES = 5;

/**
 * Cuts the body of a call into its messages ("Length-Prefixed-Message" of
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Throws `resource_exhausted` for one that is too large, as soon as its
 * length is known, and `unimplemented` for one that is compressed.
 */
export class MessageReader {
  #parts: Buffer[] = [];
  #length = 0;
  /** What the parts must have before it is worth to look at them. */
  #wanted = PREFIX_BYTES;

  /** Takes the next bytes; returns the messages that are whole by now. */
  push(chunk: Buffer): Buffer[] {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    const messages: Buffer[] = [];
    while (this.#length >= this.#wanted) {
      const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
      const end = PREFIX_BYTES + messageLength(bytes);
      this.#parts = [bytes];
      this.#wanted = end;
      if (bytes.length < end) break;
      messages.push(bytes.subarray(PREFIX_BYTES, end));
      this.#parts = [bytes.subarray(end)];
      this.#length -= end;
      this.#wanted = PREFIX_BYTES;
    }
    return messages;
  }
}

function messageLength(bytes: Buffer): number {
  if (bytes[0] !== 0) throw new PodwrightError('unimplemented', 'compressed messages are not understood here');
  const length = bytes.readUInt32BE(1);
  if (length <= MAX_MESSAGE_BYTES) return length;
  throw new PodwrightError(
    'resource_exhausted',
    `the request has ${length} bytes, more than the ${MAX_MESSAGE_BYTES} that a CRI message may have`,
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
