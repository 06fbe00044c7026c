import { BYTES, FIXED64, VARINT } from './wire-reader.ts';

const FIRST_SIZE = 1024;

/**
 * Writes a message from end to start, like Kubernetes' generated code, so the length of a nested message is known when its tag is written.
 * Callers must write fields, list elements and map entries in reverse order, and each value before its tag.
 */
export class WireWriter {
  #bytes = Buffer.allocUnsafe(FIRST_SIZE);
  #start = FIRST_SIZE;

  /** Number of bytes written so far. */
  get length(): number {
    return this.#bytes.length - this.#start;
  }

  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(this.#start));
  }

  /** Writes a varint field. `value` is an int64. */
  varintField(number: number, value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) this.#varint(value);
    else this.#varint64(BigInt.asUintN(64, BigInt(value)));
    this.#tag(number, VARINT);
  }

  doubleField(number: number, value: number): void {
    const start = this.#reserve(8);
    this.#bytes.writeDoubleLE(value, start);
    this.#tag(number, FIXED64);
  }

  bytesField(number: number, value: Uint8Array): void {
    const start = this.#reserve(value.length); // first, because it may replace the buffer
    this.#bytes.set(value, start);
    this.endMessage(number, this.length - value.length);
  }

  stringField(number: number, value: string): void {
    const length = Buffer.byteLength(value);
    const start = this.#reserve(length);
    this.#bytes.write(value, start);
    this.endMessage(number, this.length - length);
  }

  /** Writes a length-delimited field. `write` writes its content. */
  messageField(number: number, write: () => void): void {
    const before = this.length;
    write();
    this.endMessage(number, before);
  }

  /** Prepends a field's tag and length. The field's content is everything written since the length was `before`. */
  endMessage(number: number, before: number): void {
    this.#varint(this.length - before);
    this.#tag(number, BYTES);
  }

  #tag(number: number, wireType: number): void {
    this.#varint(number * 8 + wireType);
  }

  #varint(value: number): void {
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    let at = this.#reserve(size);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[at++] = (rest % 0x80) | 0x80;
    this.#bytes[at] = rest;
  }

  #varint64(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    const start = this.#reserve(bytes.length);
    this.#bytes.set(bytes, start);
  }

  /** Makes room for `count` bytes in front of the existing ones and returns the offset of the first new byte. */
  #reserve(count: number): number {
    if (count > this.#start) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.length + count + FIRST_SIZE));
      const start = larger.length - this.length;
      this.#bytes.copy(larger, start, this.#start);
      this.#bytes = larger;
      this.#start = start;
    }
    this.#start -= count;
    return this.#start;
  }
}
