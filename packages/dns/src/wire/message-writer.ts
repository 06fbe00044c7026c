import { addressBytes } from './addresses.ts';
import { labelBytes } from './names.ts';
import { CLASS_IN, HEADER_BYTES, MAX_MESSAGE_BYTES, TYPE } from './numbers.ts';
import type { ResourceRecord } from './record.ts';

/** Highest offset that a compression pointer, which has 14 bits for it, can refer to. */
const MAX_POINTER_TARGET = 0x3fff;
const COUNT_OFFSETS = { question: 4, answer: 6, authority: 8, additional: 10 } as const;

export type Section = keyof typeof COUNT_OFFSETS;

/** Writes messages with compressed names into a buffer of `sizeBytes`. Writers are reusable: `begin` starts a new message. */
export class MessageWriter {
  readonly #buffer: Buffer;
  /** Where each name was written. A new map for each message: the old storage of a cleared map refers to its new one (see `Turns`). */
  #places = new Map<string, number>();
  #end = 0;
  #maxBytes: number;

  constructor(sizeBytes: number = MAX_MESSAGE_BYTES) {
    this.#buffer = Buffer.allocUnsafeSlow(sizeBytes);
    this.#maxBytes = sizeBytes;
  }

  /** Starts a message of at most `maxBytes`. */
  begin(id: number, flags: number, maxBytes: number = this.#buffer.length): void {
    this.#places = new Map();
    this.#buffer.fill(0, 0, HEADER_BYTES);
    this.#buffer.writeUInt16BE(id, 0);
    this.#buffer.writeUInt16BE(flags, 2);
    this.#end = HEADER_BYTES;
    this.#maxBytes = maxBytes;
  }

  question(question: { name: string; type: number; class: number }): void {
    this.#name(question.name);
    this.#numbers(question.type, question.class);
    this.#count('question');
  }

  /** Adds a record. Returns whether it fits; if not, the message is unchanged. */
  record(section: Section, record: ResourceRecord): boolean {
    const before = this.#end;
    try {
      this.#name(record.name);
      this.#numbers(TYPE[record.type], CLASS_IN);
      this.#end = this.#buffer.writeUInt32BE(record.ttl, this.#end);
      const lengthAt = this.#end;
      this.#end += 2;
      this.#data(record);
      this.#buffer.writeUInt16BE(this.#end - lengthAt - 2, lengthAt);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#end = this.#maxBytes + 1; // it would exceed even the buffer
    }
    if (this.#end > this.#maxBytes) {
      this.#end = before;
      for (const [name, place] of this.#places) if (place >= before) this.#places.delete(name);
      return false;
    }
    this.#count(section);
    return true;
  }

  /** Adds a record that is already encoded. */
  encoded(section: Section, record: Buffer): void {
    this.#copy(record);
    this.#count(section);
  }

  setFlags(flags: number): void {
    this.#buffer.writeUInt16BE(flags, 2);
  }

  /** Returns a copy of the message. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#end));
  }

  #data(record: ResourceRecord): void {
    switch (record.type) {
      case 'A':
      case 'AAAA':
        return this.#copy(addressBytes(record.address)!);
      case 'CNAME':
      case 'PTR':
      case 'NS':
        return this.#name(record.target);
      case 'SRV':
        this.#numbers(record.priority, record.weight, record.port);
        return this.#name(record.target, { isCompressed: false }); // RFC 2782 forbids compression here
      case 'TXT':
        return this.#text(record.text);
      case 'SOA':
        this.#name(record.primary);
        this.#name(record.mailbox);
        for (const value of [record.serial, record.refresh, record.retry, record.expire, record.minimum])
          this.#end = this.#buffer.writeUInt32BE(value, this.#end);
    }
  }

  #name(name: string, { isCompressed = true } = {}): void {
    let rest = name;
    while (rest !== '') {
      const place = this.#places.get(rest);
      if (place !== undefined && isCompressed) return this.#numbers(0xc000 | place);
      if (place === undefined && this.#end <= MAX_POINTER_TARGET) this.#places.set(rest, this.#end);
      const dot = rest.indexOf('.');
      this.#label(dot < 0 ? rest : rest.slice(0, dot));
      rest = dot < 0 ? '' : rest.slice(dot + 1);
    }
    this.#end = this.#buffer.writeUInt8(0, this.#end);
  }

  #label(label: string): void {
    if (label.includes('\\')) return this.#text(label, labelBytes(label));
    this.#end = this.#buffer.writeUInt8(label.length, this.#end);
    this.#end += this.#buffer.write(label, this.#end, 'latin1');
  }

  /** Writes bytes prefixed by their length, which is at most 255. */
  #text(text: string, bytes: Buffer = Buffer.from(text)): void {
    this.#end = this.#buffer.writeUInt8(bytes.length, this.#end);
    this.#copy(bytes);
  }

  #copy(bytes: Buffer): void {
    if (this.#end + bytes.length > this.#buffer.length) throw new RangeError('the message is full');
    this.#end += bytes.copy(this.#buffer, this.#end);
  }

  #numbers(...values: number[]): void {
    for (const value of values) this.#end = this.#buffer.writeUInt16BE(value, this.#end);
  }

  #count(section: Section): void {
    const offset = COUNT_OFFSETS[section];
    this.#buffer.writeUInt16BE(this.#buffer.readUInt16BE(offset) + 1, offset);
  }
}
