/** IP addresses and CIDR blocks as parsed by Kubernetes: it recognizes leading zeros and IPv4-mapped addresses, but mostly rejects them. */

/** An IP address. As in Go, an IPv4-mapped IPv6 address is an IPv4 address. */
export type IpAddress = {
  family: 'IPv4' | 'IPv6';
  /** The address as a 32-bit or 128-bit integer. */
  bits: bigint;
  /** Canonical text form (RFC 5952 for IPv6). */
  text: string;
  /** Whether the parsed text contains an octet with leading zeros or a group of more than four digits. */
  hasLeadingZeros: boolean;
  /** Whether the parsed text is of the form `::ffff:10.0.0.1`. */
  isMapped: boolean;
};

export type Cidr = {
  address: IpAddress;
  /** Prefix length: up to 32 for IPv4 and IPv4-mapped addresses, up to 128 for IPv6. */
  prefixLength: number;
  /** Canonical text form: network address and prefix length. */
  text: string;
  /** Whether any bits of the address after the prefix are set. */
  hasHostBits: boolean;
  hasLeadingZeros: boolean;
};

const MAX_TEXT = 64;
const MAPPED_PREFIX = 0xffffn;

/** Parses an IPv4 or IPv6 address without a zone. Returns `undefined` if it is invalid. */
export function parseIp(text: string): IpAddress | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const dot = text.indexOf('.');
  const colon = text.indexOf(':');
  if (colon < 0) return ipv4(text);
  return dot >= 0 && dot < colon ? undefined : ipv6(text);
}

/** Parses an address with a prefix length. Returns `undefined` if it is invalid. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const length = text.slice(slash + 1);
  const address = parseIp(text.slice(0, Math.max(slash, 0)));
  if (address === undefined || !/^\d{1,8}$/.test(length)) return undefined;
  // the prefix length of an IPv4-mapped address includes the 96 bits of the prefix ::ffff
  const offset = address.isMapped ? 96 : 0;
  const width = address.family === 'IPv4' ? 32 : 128;
  const prefixLength = Math.max(Number(length) - offset, 0);
  if (prefixLength > width) return undefined;
  const hostBits = BigInt(width - prefixLength);
  const network = (address.bits >> hostBits) << hostBits;
  return {
    address,
    prefixLength,
    text: `${formatIp(network, address.family)}/${prefixLength}`,
    hasHostBits: network !== address.bits,
    hasLeadingZeros: address.hasLeadingZeros || (length.length > 1 && length.startsWith('0')),
  };
}

/** Returns true if the CIDR block contains the IP address. */
export function cidrContains({ address, prefixLength }: Cidr, ip: IpAddress): boolean {
  if (address.family !== ip.family) return false;
  const hostBits = BigInt((ip.family === 'IPv4' ? 32 : 128) - prefixLength);
  return address.bits >> hostBits === ip.bits >> hostBits;
}

function ipv4(text: string): IpAddress | undefined {
  if (!/^\d+(\.\d+){3}$/.test(text)) return undefined;
  const octets = text.split('.');
  if (octets.some((octet) => Number(octet) > 255)) return undefined;
  const bits = octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  const hasLeadingZeros = octets.some((octet) => octet.length > 1 && octet.startsWith('0'));
  return { family: 'IPv4', bits, text: formatIp(bits, 'IPv4'), hasLeadingZeros, isMapped: false };
}

function ipv6(text: string): IpAddress | undefined {
  const lastColon = text.lastIndexOf(':');
  const tail = text.includes('.') ? ipv4(text.slice(lastColon + 1)) : undefined;
  if (text.includes('.') && tail === undefined) return undefined;
  const head = tail === undefined ? text : `${text.slice(0, lastColon + 1)}${hexGroups(tail.bits)}`;
  const groups = expand(head);
  if (groups === undefined) return undefined;
  const bits = groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
  const hasLeadingZeros = tail?.hasLeadingZeros || groups.some((group) => group.length > 4);
  if (bits >> 32n !== MAPPED_PREFIX)
    return { family: 'IPv6', bits, text: formatIp(bits, 'IPv6'), hasLeadingZeros, isMapped: false };
  const low = bits & 0xffff_ffffn;
  return { family: 'IPv4', bits: low, text: formatIp(low, 'IPv4'), hasLeadingZeros, isMapped: true };
}

const hexGroups = (bits: bigint): string => `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;

/** Expands an IPv6 address to eight groups. `::` stands for at least one group. */
function expand(text: string): string[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [before = [], after = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - before.length - after.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array<string>(halves.length === 1 ? 0 : missing).fill('0'), ...after];
  return groups.every((group) => /^0*[0-9a-fA-F]{1,4}$/.test(group)) ? groups : undefined;
}

/** Formats an integer as an address in canonical text form. */
export function formatIp(bits: bigint, family: 'IPv4' | 'IPv6'): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => (bits >> BigInt(112 - 16 * index)) & 0xffffn);
  const { start, length } = longestZeros(groups);
  const text = groups.map((group) => group.toString(16));
  if (length < 2) return text.join(':');
  return `${text.slice(0, start).join(':')}::${text.slice(start + length).join(':')}`;
}

/** Returns the longest run of zero groups, or the first of the longest. */
function longestZeros(groups: readonly bigint[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  for (let index = 0; index < groups.length; index++) {
    if (groups[index] !== 0n) start = index + 1;
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start };
  }
  return longest;
}
