const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

/** Builds a protobuf message. Fields are added in order and encoded once the message is complete. */
export class GnosticMessage {
  /**
   * The parts of the encoded message, in order. Numbers are varints. Strings and nested messages are field contents, each preceded by its
   * length.
   */
  readonly #parts: (number | string | Buffer | GnosticMessage)[] = [];
  #length = 0;

  /** Adds a string field. Other values are omitted. */
  text(number: number, value: unknown): void {
    if (typeof value === 'string') this.#field(number, value, Buffer.byteLength(value));
  }

  texts(number: number, values: unknown): void {
    if (Array.isArray(values)) for (const value of values) this.text(number, value);
  }

  /** Adds a boolean field, but only if `true`, because `false` is the default. */
  flag(number: number, value: unknown): void {
    if (value !== true) return;
    this.#varint(number * 8 + VARINT);
    this.#varint(1);
  }

  /** Adds a non-negative integer field. Other values are omitted, as is 0, the default. */
  integer(number: number, value: unknown): void {
    if (!Number.isSafeInteger(value) || (value as number) <= 0) return;
    this.#varint(number * 8 + VARINT);
    this.#varint(value as number);
  }

  /** Adds a floating-point field. Other values are omitted, as is 0, the default. */
  double(number: number, value: unknown): void {
    if (typeof value !== 'number' || value === 0) return;
    this.#varint(number * 8 + FIXED64);
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }

  /** Adds a nested message that is filled in by `write`. */
  message(number: number, write: (inner: GnosticMessage) => void): void {
    const inner = new GnosticMessage();
    write(inner);
    this.#field(number, inner, inner.#length);
  }

  finish(): Uint8Array {
    const bytes = Buffer.allocUnsafe(this.#length);
    this.#write(bytes, 0);
    return bytes;
  }

  #field(number: number, content: string | GnosticMessage, length: number): void {
    this.#varint(number * 8 + BYTES);
    this.#varint(length);
    this.#parts.push(content);
    this.#length += length;
  }

  #varint(value: number): void {
    this.#parts.push(value);
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#length++;
    this.#length++;
  }

  /** Writes the message at `start` and returns the offset of its end. */
  #write(bytes: Buffer, start: number): number {
    let at = start;
    for (const part of this.#parts) {
      if (typeof part === 'string') at += bytes.write(part, at);
      else if (typeof part === 'number') at = writeVarint(bytes, at, part);
      else if (part instanceof GnosticMessage) at = part.#write(bytes, at);
      else at += part.copy(bytes, at);
    }
    return at;
  }
}

function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
  bytes[at++] = rest;
  return at;
}
