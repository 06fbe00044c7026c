import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { PodwrightError } from '@podwright/base';

/**
 * Returns the 4 or 16 bytes of an IPv4 or IPv6 address in network byte order. Throws `invalid_argument` if the text is not an IP address.
 */
export function addressBytes(text: string): Buffer {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  if (isIPv6(text) && !text.includes('%')) return ipv6Bytes(text);
  throw new PodwrightError('invalid_argument', `IP address "${text}": it is not valid`);
}

/** Formats an address of 4 or 16 bytes (RFC 5952). */
export function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  return new SocketAddress({ family: 'ipv6', address: groups.join(':') }).address;
}

/** Returns the netmask of a prefix: `bytes` bytes with `length` one bits followed by zeros. */
export function prefixMask(length: number, bytes: number): Buffer {
  const bits = (at: number) => Math.min(8, Math.max(0, length - 8 * at));
  return Buffer.from(Array.from({ length: bytes }, (_, at) => 0xff & (0xff00 >> bits(at))));
}

/**
 * Parses an IPv6 address (RFC 4291, section 2.2): 16-bit groups, at most one omitted run of zeros, and optionally the last 32 bits in IPv4
 * notation.
 */
function ipv6Bytes(text: string): Buffer {
  const [head = '', tail] = text.split('::');
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Buffer.alloc(16 - before.length - after.length);
  return Buffer.concat([before, zeros, after]);
}

function groups(text: string): Buffer {
  if (text === '') return Buffer.alloc(0);
  return Buffer.concat(text.split(':').map((group) => (group.includes('.') ? addressBytes(group) : be16(group))));
}

function be16(hexadecimal: string): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(Number.parseInt(hexadecimal, 16));
  return bytes;
}
