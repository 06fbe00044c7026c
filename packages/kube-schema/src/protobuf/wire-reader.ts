import { PodwrightError } from '@podwright/base';

/** Protobuf wire types (https://protobuf.dev/programming-guides/encoding). */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED32 = 5;

/**
 * Maximum nesting depth of groups in a skipped field. Groups are obsolete and no Kubernetes type uses them, but unknown fields may contain
 * them.
 */
const MAX_GROUP_DEPTH = 100;

/** A field number and a wire type. */
export type Tag = { number: number; wireType: number };

/** Returns the error for a message that cannot be decoded. `offset` counts bytes from the start of the whole input. */
export function malformed(offset: number, why: string): PodwrightError {
  return new PodwrightError('invalid_argument', `decode protobuf at byte ${offset}: ${why}`);
}

/** Reads the fields of one message. Throws `invalid_argument`, giving the offset in the whole input. */
export class WireReader {
  readonly #bytes: Buffer;
  #offset: number;
  readonly #end: number;

  private constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#offset = start;
    this.#end = end;
  }

  /** Returns a reader for `bytes` that begins at `start`. */
  static of(bytes: Uint8Array, start = 0): WireReader {
    return new WireReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), start, bytes.byteLength);
  }

  get offset(): number {
    return this.#offset;
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#end;
  }

  tag(): Tag {
    const offset = this.#offset;
    const value = this.number();
    const number = Math.floor(value / 8);
    if (number < 1 || number > 0x1fffffff) throw malformed(offset, `${number} is no field number`);
    return { number, wireType: value % 8 };
  }

  /** Reads an unsigned varint. Values above 2^53 are rounded. */
  number(): number {
    const offset = this.#offset;
    let value = 0;
    for (let scale = 1; scale < 2 ** 70; scale *= 0x80) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw malformed(offset, 'a number has more than 10 bytes');
  }

  int64(): bigint {
    const offset = this.#offset;
    const value = this.number();
    if (Number.isSafeInteger(value)) return BigInt(value);
    let exact = 0n;
    for (let at = this.#offset - 1; at >= offset; at--) exact = (exact << 7n) | BigInt(this.#bytes[at]! & 0x7f);
    return BigInt.asIntN(64, exact);
  }

  /** Reads a varint as an int32. Like Go, keeps only the lower 32 bits. */
  int32(): number {
    const offset = this.#offset;
    const value = this.number();
    if (value < 2 ** 31) return value;
    this.#offset = offset;
    return Number(BigInt.asIntN(32, this.int64()));
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  /** Reads a field's bytes without copying them. */
  bytes(): Buffer {
    const length = this.#length();
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Reads a string. Like Go, does not validate the encoding: invalid UTF-8 becomes U+FFFD. */
  string(): string {
    return this.bytes().toString('utf8');
  }

  /** Returns a reader for the nested message in the field. */
  message(): WireReader {
    const length = this.#length();
    const start = this.#take(length);
    return new WireReader(this.#bytes, start, start + length);
  }

  /** Skips the value of an unknown field. */
  skip({ number, wireType }: Tag, depth = 0): void {
    switch (wireType) {
      case VARINT:
        this.number();
        return;
      case FIXED64:
        this.#take(8);
        return;
      case BYTES:
        this.#take(this.#length());
        return;
      case FIXED32:
        this.#take(4);
        return;
      case GROUP_START:
        return this.#skipGroup(number, depth);
      default:
        throw malformed(this.#offset, `field ${number} has the wire type ${wireType}`);
    }
  }

  #skipGroup(number: number, depth: number): void {
    if (depth >= MAX_GROUP_DEPTH) throw malformed(this.#offset, `groups are more than ${MAX_GROUP_DEPTH} deep`);
    for (;;) {
      const tag = this.tag();
      if (tag.wireType !== GROUP_END) this.skip(tag, depth + 1);
      else if (tag.number === number) return;
      else throw malformed(this.#offset, `group ${number} ends as ${tag.number}`);
    }
  }

  #length(): number {
    const offset = this.#offset;
    const length = this.number();
    const rest = this.#end - this.#offset;
    if (length > rest) throw malformed(offset, `a length of ${length} is more than the ${rest} bytes that follow`);
    return length;
  }

  #take(count: number): number {
    const offset = this.#offset;
    if (offset + count > this.#end) throw malformed(offset, 'unexpected end');
    this.#offset += count;
    return offset;
  }

  #byte(): number {
    return this.#bytes[this.#take(1)]!;
  }
}
