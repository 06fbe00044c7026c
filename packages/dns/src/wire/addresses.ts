/** IP addresses as bytes, and their reverse lookup names (RFC 1035, section 3.5; RFC 3596, section 2.5). */
import { isIPv4, isIPv6 } from 'node:net';

const IPV4_ZONE = '.in-addr.arpa';
const IPV6_ZONE = '.ip6.arpa';

/** Returns the 4 or 16 bytes of an address, or `undefined` if the text is not an address. */
export function addressBytes(text: string): Buffer | undefined {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const [before = '', after] = hexadecimal(text).split('::');
  const head = groupsOf(before);
  const tail = groupsOf(after ?? '');
  const zeros = new Array<number>(8 - head.length - tail.length).fill(0);
  return Buffer.from([...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]));
}

/** Returns a key that is the same for all spellings of an address, or `undefined` if the text is not an address. */
export function addressKey(text: string): string | undefined {
  return addressBytes(text)?.toString('hex');
}

/** Returns the key (see `addressKey`) of the address in a lower-case reverse lookup name; `undefined` for other names. */
export function reverseKey(name: string): string | undefined {
  if (name.endsWith(IPV4_ZONE)) {
    const address = name.slice(0, -IPV4_ZONE.length).split('.').reverse().join('.');
    return isIPv4(address) ? addressKey(address) : undefined;
  }
  if (!name.endsWith(IPV6_ZONE)) return undefined;
  const nibbles = name.slice(0, -IPV6_ZONE.length).split('.');
  const isWhole = nibbles.length === 32 && nibbles.every((nibble) => /^[\da-f]$/.test(nibble));
  return isWhole ? nibbles.reverse().join('') : undefined;
}

const groupsOf = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));

/** Converts an IPv4 suffix of an IPv6 address to two hexadecimal groups. */
function hexadecimal(text: string): string {
  const colon = text.lastIndexOf(':');
  const last = text.slice(colon + 1);
  if (!isIPv4(last)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = last.split('.').map(Number);
  return `${text.slice(0, colon + 1)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
