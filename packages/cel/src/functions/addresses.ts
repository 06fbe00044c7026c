/** IP address and CIDR functions (apiserver, pkg/cel/library/ip.go and cidr.go). */
import { type Cidr, cidrContains, type IpAddress, parseCidr, parseIp } from '@podwright/kube-kinds';
import { CelError, Opaque, type Value } from '../values/values.ts';
import { type CallCost, type FunctionTable, overload, sizeOf, traversal, traversalOf } from './overload.ts';

const IP = 'net.IP';
const CIDR = 'net.CIDR';

class IpValue extends Opaque {
  readonly typeName = IP;
  override readonly sizeForCost: number;
  readonly ip: IpAddress;

  constructor(ip: IpAddress) {
    super();
    this.ip = ip;
    this.sizeForCost = ip.family === 'IPv4' ? 4 : 16;
  }

  equals(other: Opaque): boolean {
    return other instanceof IpValue && other.ip.text === this.ip.text;
  }

  override toString(): string {
    return this.ip.text;
  }
}

class CidrValue extends Opaque {
  readonly typeName = CIDR;
  override readonly sizeForCost: number;
  readonly cidr: Cidr;

  constructor(cidr: Cidr) {
    super();
    this.cidr = cidr;
    this.sizeForCost = Math.ceil(cidr.prefixLength / 8);
  }

  equals(other: Opaque): boolean {
    return other instanceof CidrValue && String(other) === String(this);
  }

  override toString(): string {
    return `${this.cidr.address.text}/${this.cidr.prefixLength}`;
  }
}

/** Parses an IP address. Throws `CelError`. */
function ip(text: string): IpValue {
  const parsed = parseIp(text);
  const shown = JSON.stringify(text);
  if (parsed?.isMapped) throw new CelError(`IPv4-mapped IPv6 address ${shown} is not allowed`);
  if (/^[\da-fA-F:.]*:[\da-fA-F:.]*%./.test(text))
    throw new CelError(`IP address ${shown} with zone value is not allowed`);
  if (parsed === undefined || parsed.hasLeadingZeros) {
    const cause = `ParseAddr(${shown}): ${ipProblem(text)}`;
    throw new CelError(`IP Address ${shown} parse error during conversion from string: ${cause}`);
  }
  return new IpValue(parsed);
}

/** Returns why a string is not an IP address, in the words of Go's netip.ParseAddr for the most common mistakes. */
function ipProblem(text: string): string {
  if (!/[.:]/.test(text)) return 'unable to parse IP';
  if (text.includes(':')) return 'each colon-separated field must have at least one digit';
  const fields = text.split('.');
  if (fields.some((field) => field === '')) return 'IPv4 field must have at least one digit';
  if (fields.some((field) => !/^\d+$/.test(field))) return 'unexpected character';
  if (fields.some((field) => /^0\d/.test(field))) return 'IPv4 field has octet with leading zero';
  if (fields.some((field) => Number(field) > 255)) return 'IPv4 field has value >255';
  return fields.length < 4 ? 'IPv4 address too short' : 'IPv4 address too long';
}

const FAILED = 'network address parse error during conversion from string';

function cidr(text: string): CidrValue {
  const shown = JSON.stringify(text);
  const parsed = parseCidr(text);
  if (parsed?.address.isMapped) throw new CelError(`${FAILED}: IPv4-mapped IPv6 address ${shown} is not allowed`);
  if (parsed === undefined || parsed.hasLeadingZeros)
    throw new CelError(`${FAILED}: ${FAILED}: netip.ParsePrefix(${shown}): ${cidrProblem(text)}`);
  return new CidrValue(parsed);
}

function cidrProblem(text: string): string {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return "no '/'";
  const [address, length] = [text.slice(0, slash), text.slice(slash + 1)];
  const parsed = parseIp(address);
  if (parsed === undefined || parsed.hasLeadingZeros)
    return `ParseAddr(${JSON.stringify(address)}): ${ipProblem(address)}`;
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length)) return `bad bits after slash: ${JSON.stringify(length)}`;
  return 'prefix length out of range';
}

function succeeds(parse: (text: string) => unknown): (text: string) => boolean {
  return (text) => {
    try {
      parse(text);
      return true;
    } catch (error) {
      if (error instanceof CelError) return false;
      throw error;
    }
  };
}

const containsIp = (one: CidrValue, other: IpValue | string): boolean =>
  cidrContains(one.cidr, (typeof other === 'string' ? ip(other) : other).ip);

function containsCidr(one: CidrValue, given: CidrValue | string): boolean {
  const { cidr: other } = typeof given === 'string' ? cidr(given) : given;
  return one.cidr.prefixLength <= other.prefixLength && cidrContains(one.cidr, other.address);
}

const ofText = (value: Value): number => (typeof value === 'string' ? traversal(sizeOf(value)) : 0);

const containsIpCost: CallCost = ([one, other]) => traversal(sizeOf(one!) * 2) + ofText(other!);

const containsCidrCost: CallCost = ([one, other]) =>
  traversal(sizeOf(one!) * 2) + traversal(sizeOf(one!)) + 1 + ofText(other!);

/** Returns a predicate for addresses, IPv4 or IPv6, that are in one of these blocks. */
const isWithin =
  (...blocks: readonly string[]) =>
  ({ ip: address }: IpValue): boolean =>
    blocks.some((block) => cidrContains(parseCidr(block)!, address));

const isUnspecified = isWithin('0.0.0.0/32', '::/128');
const isLoopback = isWithin('127.0.0.0/8', '::1/128');
const isLinkLocalMulticast = isWithin('224.0.0.0/24', 'ff02::/16');
const isLinkLocalUnicast = isWithin('169.254.0.0/16', 'fe80::/10');
const isGlobalUnicast = (value: IpValue): boolean =>
  !isUnspecified(value) &&
  !isLoopback(value) &&
  !isLinkLocalUnicast(value) &&
  !isWithin('224.0.0.0/4', 'ff00::/8', '255.255.255.255/32')(value);

export const ADDRESS_FUNCTIONS: FunctionTable = {
  ip: [
    overload(`(string) -> ${IP}`, ip, traversalOf()),
    overload(`${CIDR}.() -> ${IP}`, ({ cidr: { address } }: CidrValue) => new IpValue(address)),
  ],
  isIP: [overload('(string) -> bool', succeeds(ip), traversalOf())],
  'ip.isCanonical': [overload('(string) -> bool', (text: string) => String(ip(text)) === text, traversalOf(2))],
  family: [overload(`${IP}.() -> int`, ({ ip: { family } }: IpValue) => (family === 'IPv4' ? 4n : 6n))],
  isUnspecified: [overload(`${IP}.() -> bool`, isUnspecified)],
  isLoopback: [overload(`${IP}.() -> bool`, isLoopback)],
  isLinkLocalMulticast: [overload(`${IP}.() -> bool`, isLinkLocalMulticast)],
  isLinkLocalUnicast: [overload(`${IP}.() -> bool`, isLinkLocalUnicast)],
  isGlobalUnicast: [overload(`${IP}.() -> bool`, isGlobalUnicast)],
  cidr: [overload(`(string) -> ${CIDR}`, cidr, traversalOf())],
  isCIDR: [overload('(string) -> bool', succeeds(cidr), traversalOf())],
  containsIP: [
    overload(`${CIDR}.(string) -> bool`, containsIp, containsIpCost),
    overload(`${CIDR}.(${IP}) -> bool`, containsIp, containsIpCost),
  ],
  containsCIDR: [
    overload(`${CIDR}.(string) -> bool`, containsCidr, containsCidrCost),
    overload(`${CIDR}.(${CIDR}) -> bool`, containsCidr, containsCidrCost),
  ],
  prefixLength: [overload(`${CIDR}.() -> int`, ({ cidr: { prefixLength } }: CidrValue) => BigInt(prefixLength))],
  masked: [overload(`${CIDR}.() -> ${CIDR}`, (value: CidrValue) => cidr(value.cidr.text))],
  string: [
    overload(`(${IP}) -> string`, (value: IpValue) => String(value)),
    overload(`(${CIDR}) -> string`, (value: CidrValue) => String(value)),
  ],
};
