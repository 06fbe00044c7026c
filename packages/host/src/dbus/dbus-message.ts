/** Encodes and decodes D-Bus messages (dbus.freedesktop.org/doc/dbus-specification.html, Message Protocol). */
import { PodwrightError } from '@podwright/base';

/** A value of a supported D-Bus type: b, i, u, t, s, o, or a v that contains one of these. */
export type DBusValue = boolean | number | bigint | string;

export type MethodCall = {
  destination: string;
  path: string;
  interface: string;
  member: string;
  /** Strings are encoded as D-Bus type `s`, numbers as `i`. */
  arguments?: (string | number)[];
};

export type DBusMessage = {
  type: 'call' | 'return' | 'error' | 'signal';
  serial: number;
  replySerial?: number;
  path?: string;
  interface?: string;
  member?: string;
  errorName?: string;
  sender?: string;
  /** The values in the message, up to the first one of an unsupported type. */
  values: DBusValue[];
};

const TYPES = { 1: 'call', 2: 'return', 3: 'error', 4: 'signal' } as const;
const FIELDS = { 1: 'path', 2: 'interface', 3: 'member', 4: 'errorName', 5: 'replySerial', 7: 'sender' } as const;
const SIGNATURE_FIELD = 8;
/**
 * Length of the fixed part of a D-Bus message header: byte order, type, flags, version, body length, serial number, and length of the
 * header fields.
 */
const FIXED_BYTES = 16;

export function encodeCall(serial: number, call: MethodCall): Buffer {
  const body = new Writer();
  const given = call.arguments ?? [];
  for (const value of given) body.value(value);
  const signature = given.map((value) => (typeof value === 'string' ? 's' : 'i')).join('');
  const fields = new Writer();
  const field = (code: number, type: 's' | 'o' | 'g', text: string) => {
    fields.align(8).byte(code).signature(type);
    if (type === 'g') fields.signature(text);
    else fields.value(text);
  };
  field(1, 'o', call.path);
  field(2, 's', call.interface);
  field(3, 's', call.member);
  field(6, 's', call.destination);
  if (signature !== '') field(SIGNATURE_FIELD, 'g', signature);
  const header = new Writer();
  for (const byte of [0x6c /* little-endian */, 1 /* call */, 0, 1 /* version */]) header.byte(byte);
  header.uint32(body.bytes().length).uint32(serial).uint32(fields.bytes().length);
  const start = new Writer();
  start.raw(Buffer.concat([header.bytes(), fields.bytes()])).align(8);
  return Buffer.concat([start.bytes(), body.bytes()]);
}

/**
 * Returns the length of the message at the beginning of `bytes`; `undefined` if its header is incomplete. Throws `internal` if the data is
 * not a D-Bus message.
 */
export function messageLength(bytes: Buffer): number | undefined {
  if (bytes.length < FIXED_BYTES) return undefined;
  const reader = new Reader(bytes);
  if (reader.endian === undefined || bytes[3] !== 1) throw new PodwrightError('internal', 'it is not a D-Bus message');
  const [body, fields] = [reader.uint32At(4), reader.uint32At(12)];
  return aligned(FIXED_BYTES + fields, 8) + body;
}

/** Decodes one complete D-Bus message. Throws `internal` if it is invalid. */
export function decodeMessage(bytes: Buffer): DBusMessage {
  const reader = new Reader(bytes);
  const type = TYPES[bytes[1] as keyof typeof TYPES];
  if (type === undefined) throw new PodwrightError('internal', `unknown D-Bus message type ${bytes[1]}`);
  const message: DBusMessage = { type, serial: reader.uint32At(8), values: [] };
  const end = FIXED_BYTES + reader.uint32At(12);
  let signature = '';
  reader.at = FIXED_BYTES;
  while (reader.at < end) {
    reader.align(8);
    const code = reader.byte();
    const value = reader.variant();
    if (value === undefined) throw new PodwrightError('internal', `unsupported D-Bus header field ${code}`);
    if (code === SIGNATURE_FIELD) signature = String(value);
    const name = FIELDS[code as keyof typeof FIELDS];
    if (name !== undefined) Object.assign(message, { [name]: value });
  }
  reader.at = aligned(end, 8);
  message.values = reader.values(signature);
  return message;
}

const aligned = (at: number, to: number) => Math.ceil(at / to) * to;

/** Encodes values in little-endian byte order. */
class Writer {
  readonly #parts: Buffer[] = [];
  #length = 0;

  raw(bytes: Buffer): this {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return this;
  }

  align(to: number): this {
    return this.raw(Buffer.alloc(aligned(this.#length, to) - this.#length));
  }

  byte(value: number): this {
    return this.raw(Buffer.of(value));
  }

  uint32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return this.align(4).raw(bytes);
  }

  signature(text: string): this {
    return this.byte(text.length).raw(Buffer.from(`${text}\0`));
  }

  value(value: string | number): this {
    if (typeof value === 'number') return this.uint32(value >>> 0);
    const text = Buffer.from(value);
    return this.uint32(text.length).raw(text).byte(0);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Decodes values in the sender's byte order. Throws `internal` at the end of the data. */
class Reader {
  readonly #bytes: Buffer;
  readonly endian: 'little' | 'big' | undefined;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.endian = bytes[0] === 0x6c ? 'little' : bytes[0] === 0x42 ? 'big' : undefined;
  }

  uint32At(at: number): number {
    return this.endian === 'big' ? this.#bytes.readUInt32BE(at) : this.#bytes.readUInt32LE(at);
  }

  align(to: number): void {
    this.at = aligned(this.at, to);
  }

  byte(): number {
    return this.#take(1)[0]!;
  }

  /** Reads a value preceded by its type signature; `undefined` for an unsupported type. */
  variant(): DBusValue | undefined {
    return this.#value(this.#signature());
  }

  values(signature: string): DBusValue[] {
    const values: DBusValue[] = [];
    for (const type of signature) {
      const value = this.#value(type);
      if (value === undefined) break;
      values.push(value);
    }
    return values;
  }

  #value(type: string): DBusValue | undefined {
    if (type === 's' || type === 'o') return this.#text();
    if (type === 'g') return this.#signature();
    if (type === 'v') return this.variant();
    if (type === 't') return this.#uint64();
    const value = type === 'u' || type === 'i' || type === 'b' ? this.#uint32() : undefined;
    if (value === undefined) return undefined;
    return type === 'b' ? value !== 0 : type === 'i' ? value | 0 : value;
  }

  #uint32(): number {
    this.align(4);
    this.#take(4);
    return this.uint32At(this.at - 4);
  }

  #uint64(): bigint {
    this.align(8);
    const bytes = this.#take(8);
    return this.endian === 'big' ? bytes.readBigUInt64BE() : bytes.readBigUInt64LE();
  }

  #text(): string {
    const text = this.#take(this.#uint32()).toString('utf8');
    this.#take(1);
    return text;
  }

  #signature(): string {
    const text = this.#take(this.byte()).toString('latin1');
    this.#take(1);
    return text;
  }

  #take(length: number): Buffer {
    const bytes = this.#bytes.subarray(this.at, this.at + length);
    if (bytes.length < length) throw new PodwrightError('internal', 'a D-Bus message is truncated');
    this.at += length;
    return bytes;
  }
}
