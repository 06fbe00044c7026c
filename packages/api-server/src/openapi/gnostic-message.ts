const VARINT = 0;
const BYTES = 2;

/** A protobuf message under construction, whose fields are added in order. Bytes are written once, when it is finished. */
export class GnosticMessage {
  /** Numbers are varints; texts and messages are contents whose length is in the part before. */
  readonly #parts: (number | string | GnosticMessage)[] = [];
  #length = 0;

  /** Values other than texts are left out. */
  text(number: number, value: unknown): void {
    if (typeof value === 'string') this.#field(number, value, Buffer.byteLength(value));
  }

  texts(number: number, values: unknown): void {
    if (Array.isArray(values)) for (const value of values) this.text(number, value);
  }

  /** Only `true` is written: `false` is the default. */
  flag(number: number, value: unknown): void {
    if (value !== true) return;
    this.#varint(number * 8 + VARINT);
    this.#varint(1);
  }

  /** `write` fills in the nested message. */
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

  /** Returns the offset after the message. */
  #write(bytes: Buffer, start: number): number {
    let at = start;
    for (const part of this.#parts) {
      if (typeof part === 'string') at += bytes.write(part, at);
      else if (typeof part === 'number') at = writeVarint(bytes, at, part);
      else at = part.#write(bytes, at);
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
