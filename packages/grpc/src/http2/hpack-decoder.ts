import { PodwrightError } from '@podwright/base';
import { undecodable } from './end-codes.ts';
import { decodeHuffman } from './huffman.ts';
import { type HeaderField, STATIC_TABLE } from './static-table.ts';

/** Overhead of each table or list entry, added to the size of its name and value (RFC 7541, 4.1). */
const ENTRY_OVERHEAD_BYTES = 32;

/** Limits on the memory that a peer can consume, in bytes as counted by RFC 7541 (4.1). */
export type HpackLimits = { tableBytes: number; listBytes: number };

/**
 * An HPACK decoder for one direction of a connection (RFC 7541). Header blocks depend on earlier ones, so it must decode all of them, in
 * order. Throws `invalid_argument` for an HPACK violation, and `resource_exhausted` if a limit is exceeded. The decoder must not be used
 * after an error.
 */
export class HpackDecoder {
  readonly #limits: HpackLimits;
  /** The dynamic table, newest entry first. */
  readonly #dynamic: HeaderField[] = [];
  #dynamicBytes = 0;
  #capacityBytes: number;

  constructor(limits: HpackLimits) {
    this.#limits = limits;
    this.#capacityBytes = limits.tableBytes;
  }

  /** Decodes a complete header block. */
  decode(block: Buffer): HeaderField[] {
    const reader = new BlockReader(block);
    const fields: HeaderField[] = [];
    let listBytes = 0;
    while (!reader.atEnd) {
      const field = this.#readField(reader, fields.length === 0);
      if (field === undefined) continue;
      listBytes += sizeOf(field);
      if (listBytes > this.#limits.listBytes) {
        throw new PodwrightError(
          'resource_exhausted',
          `hpack: header list of more than ${this.#limits.listBytes} bytes`,
        );
      }
      fields.push(field);
    }
    return fields;
  }

  /** Reads one representation (RFC 7541, 6), which is a field or a table size update. Returns `undefined` for the latter. */
  #readField(reader: BlockReader, atStart: boolean): HeaderField | undefined {
    const first = reader.peek();
    if (first & 0x80) return this.#entry(reader.integer(7));
    if (first & 0x40) return this.#addEntry(this.#literal(reader, 6));
    if (first & 0x20) {
      if (!atStart) throw undecodable('table size changed within a block');
      return this.#resize(reader.integer(5));
    }
    return this.#literal(reader, 4);
  }

  #literal(reader: BlockReader, indexBits: number): HeaderField {
    const index = reader.integer(indexBits);
    const name = index === 0 ? reader.string() : this.#entry(index)[0];
    return [name, reader.string()];
  }

  #entry(index: number): HeaderField {
    const field = STATIC_TABLE[index - 1] ?? this.#dynamic[index - 1 - STATIC_TABLE.length];
    if (field === undefined) throw undecodable(`no entry ${index} in the tables`);
    return field;
  }

  #addEntry(field: HeaderField): HeaderField {
    this.#dynamic.unshift(field);
    this.#dynamicBytes += sizeOf(field);
    this.#evict();
    return field;
  }

  #resize(bytes: number): undefined {
    if (bytes > this.#limits.tableBytes) {
      throw undecodable(`table of ${bytes} bytes, ${this.#limits.tableBytes} allowed`);
    }
    this.#capacityBytes = bytes;
    this.#evict();
  }

  #evict(): void {
    while (this.#dynamicBytes > this.#capacityBytes) this.#dynamicBytes -= sizeOf(this.#dynamic.pop()!);
  }
}

function sizeOf([name, value]: HeaderField): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES;
}

/**
 * Maximum number of octets that follow the prefix of an integer. Integers are indexes and lengths, so four are enough for any value within
 * the limits.
 */
const MAX_INTEGER_OCTETS = 4;

/** Reads the primitive types of RFC 7541 (5) from a header block. */
class BlockReader {
  readonly #block: Buffer;
  #position = 0;

  constructor(block: Buffer) {
    this.#block = block;
  }

  get atEnd(): boolean {
    return this.#position >= this.#block.length;
  }

  peek(): number {
    const octet = this.#block[this.#position];
    if (octet === undefined) throw undecodable('block ends within a field');
    return octet;
  }

  integer(prefixBits: number): number {
    const mask = 2 ** prefixBits - 1;
    let value = this.#next() & mask;
    if (value < mask) return value;
    for (let octets = 0, scale = 1; octets < MAX_INTEGER_OCTETS; octets++, scale *= 128) {
      const octet = this.#next();
      value += (octet & 0x7f) * scale;
      if (octet < 0x80) return value;
    }
    throw undecodable('integer too long');
  }

  string(): string {
    const huffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const [start, end] = [this.#position, this.#position + length];
    if (end > this.#block.length) throw undecodable('block ends within a string');
    this.#position = end;
    if (huffman) return decodeHuffman(this.#block.subarray(start, end)).toString('latin1');
    return this.#block.toString('latin1', start, end);
  }

  #next(): number {
    const octet = this.peek();
    this.#position++;
    return octet;
  }
}
