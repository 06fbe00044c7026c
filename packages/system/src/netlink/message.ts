/**
 * Netlink messages (linux/netlink.h; RFC 3549, section 2.3): a header, a protocol-specific body, and attributes. Numbers are in host byte
 * order; this code assumes little-endian.
 */

/** A netlink attribute: a type with either bytes or nested attributes. */
export type Attribute = readonly [type: number, value: Buffer | readonly Attribute[]];

/** A message from the kernel. `body` is everything after the message header. */
export type NetlinkMessage = { type: number; flags: number; sequence: number; body: Buffer };

const HEADER_BYTES = 16;
const ATTRIBUTE_HEADER_BYTES = 4;
const ALIGNMENT = 4;
/** Maximum size of an attribute including its header: the length field is a u16. */
const MAX_ATTRIBUTE_BYTES = 0xffff;
/** NLA_F_NESTED, which newer kernels require on nested attributes, and NLA_TYPE_MASK, which removes the flags from an attribute's type. */
const NESTED = 0x8000;
const TYPE_MASK = 0x3fff;

/** Encodes a request message. */
export function encodeMessage(message: {
  type: number;
  flags: number;
  sequence: number;
  body: Buffer;
  attributes: readonly Attribute[];
}): Buffer {
  const parts = [pad(message.body), encodeAttributes(message.attributes)];
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(HEADER_BYTES + parts.reduce((sum, part) => sum + part.length, 0), 0);
  header.writeUInt16LE(message.type, 4);
  header.writeUInt16LE(message.flags, 6);
  header.writeUInt32LE(message.sequence, 8);
  return Buffer.concat([header, ...parts]);
}

/** Encodes attributes, each padded to four bytes. Throws a `RangeError` if an attribute is too long. */
export function encodeAttributes(attributes: readonly Attribute[]): Buffer {
  const encoded = Buffer.alloc(sizeOf(attributes));
  writeAttributes(encoded, 0, attributes);
  return encoded;
}

function sizeOf(attributes: readonly Attribute[]): number {
  let size = 0;
  for (const [, value] of attributes)
    size += ATTRIBUTE_HEADER_BYTES + (Buffer.isBuffer(value) ? aligned(value.length) : sizeOf(value));
  return size;
}

/**
 * Writes attributes into `target` without copying, because an nf_tables set can have thousands of elements. Returns the position after the
 * attributes.
 */
function writeAttributes(target: Buffer, start: number, attributes: readonly Attribute[]): number {
  let at = start;
  for (const [type, value] of attributes) {
    const body = at + ATTRIBUTE_HEADER_BYTES;
    const nested = !Buffer.isBuffer(value);
    const end = nested ? writeAttributes(target, body, value) : body + value.copy(target, body);
    if (end - at > MAX_ATTRIBUTE_BYTES)
      throw new RangeError(`netlink attribute ${type} of ${end - body} bytes is too long`);
    target.writeUInt16LE(end - at, at);
    target.writeUInt16LE(nested ? type | NESTED : type, at + 2);
    at = aligned(end);
  }
  return at;
}

/** Decodes the messages in a datagram. Throws a `RangeError` if they are malformed. */
export function decodeMessages(datagram: Buffer): NetlinkMessage[] {
  const messages: NetlinkMessage[] = [];
  for (let at = 0; at + HEADER_BYTES <= datagram.length; ) {
    const length = datagram.readUInt32LE(at);
    if (length < HEADER_BYTES || at + length > datagram.length)
      throw new RangeError(`netlink message of ${length} bytes in a datagram with ${datagram.length - at} left`);
    messages.push({
      type: datagram.readUInt16LE(at + 4),
      flags: datagram.readUInt16LE(at + 6),
      sequence: datagram.readUInt32LE(at + 8),
      body: datagram.subarray(at + HEADER_BYTES, at + length),
    });
    at += aligned(length);
  }
  return messages;
}

/**
 * Decodes attributes into a map by type; the last one wins if a type occurs more than once. Throws a `RangeError` if the attributes are
 * malformed.
 */
export function decodeAttributes(bytes: Buffer): Map<number, Buffer> {
  return new Map(listAttributes(bytes));
}

/** Decodes attributes in order, for lists whose elements all have the same type. */
export function listAttributes(bytes: Buffer): [type: number, value: Buffer][] {
  const attributes: [number, Buffer][] = [];
  for (let at = 0; at + ATTRIBUTE_HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readUInt16LE(at);
    if (length < ATTRIBUTE_HEADER_BYTES || at + length > bytes.length)
      throw new RangeError(`netlink attribute of ${length} bytes with ${bytes.length - at} left`);
    const value = bytes.subarray(at + ATTRIBUTE_HEADER_BYTES, at + length);
    attributes.push([bytes.readUInt16LE(at + 2) & TYPE_MASK, value]);
    at += aligned(length);
  }
  return attributes;
}

export const u8 = (value: number): Buffer => Buffer.from([value]);

/** Encodes a number in host byte order. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Encodes a 16-bit number in big-endian byte order, for example a port. */
export function be16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** Encodes a number in big-endian byte order, as nf_tables requires. */
export function be32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Encodes a number of up to 64 bits in big-endian byte order. */
export function be64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** Encodes NUL-terminated text. */
export const text = (value: string): Buffer => Buffer.from(`${value}\0`);

const aligned = (length: number): number => (length + ALIGNMENT - 1) & ~(ALIGNMENT - 1);

function pad(bytes: Buffer): Buffer {
  return Buffer.concat([bytes], aligned(bytes.length));
}
