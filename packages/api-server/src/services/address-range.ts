import { randomInt } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import { type Cidr, cidrContains, formatIp, type IpAddress, parseCidr, parseIp } from '@podwright/kube-kinds';

/**
 * Addresses at the start of the range are not assigned automatically, so that they remain available to services that request a specific
 * one, as in upstream.
 */
const MAX_RESERVED = 256;
const MIN_RESERVED = 16;
const RESERVED_SHARE = 16;
/** Number of random addresses to try before searching all addresses in order. */
const RANDOM_TRIES = 100;
/** Limits for the number of host bits in a range, as in upstream: at most 20 for IPv6. */
const HOST_BITS = { IPv4: { width: 32, least: 4, most: 24 }, IPv6: { width: 128, least: 4, most: 20 } } as const;

/** A range of IP addresses of one family, used for the cluster IPs of services. */
export class AddressRange {
  /** The range as configured, e.g. `10.96.0.0/12`. */
  readonly cidr: string;
  readonly family: IpAddress['family'];
  readonly #block: Cidr;
  readonly #base: bigint;
  readonly #size: number;

  /** Throws `invalid_argument` if the range is invalid. */
  constructor(cidr: string) {
    const block = parseCidr(cidr);
    const { width, least, most } = HOST_BITS[block?.address.family ?? 'IPv4'];
    const hostBits = width - (block?.prefixLength ?? 0);
    if (block === undefined || hostBits < least || hostBits > most)
      throw new PodwrightError(
        'invalid_argument',
        `the range of cluster IPs ${JSON.stringify(cidr)} must be an IPv4 range between /8 and /28, or an IPv6 range between /108 and /124`,
      );
    this.cidr = cidr;
    this.family = block.address.family;
    this.#block = block;
    this.#size = 2 ** hostBits;
    this.#base = (block.address.bits >> BigInt(hostBits)) << BigInt(hostBits);
  }

  /** Parses one range, or two of different families such as `10.96.0.0/12,fd00:96::/112`. Throws `invalid_argument` if they are invalid. */
  static list(cidrs: string): [AddressRange, ...AddressRange[]] {
    const ranges = cidrs.split(',').map((cidr) => new AddressRange(cidr));
    if (ranges.length > 2 || (ranges.length === 2 && ranges[0]!.family === ranges[1]!.family))
      throw new PodwrightError('invalid_argument', `the ranges of cluster IPs ${cidrs} must be one of each IP family`);
    return ranges as [AddressRange, ...AddressRange[]];
  }

  /** The first usable address of the range, which the Service `kubernetes` gets. */
  get first(): string {
    return this.#at(1);
  }

  includes(ip: string): boolean {
    const address = parseIp(ip);
    if (address === undefined || !cidrContains(this.#block, address)) return false;
    const offset = Number(address.bits - this.#base);
    return offset !== 0 && offset <= this.#last;
  }

  /** Returns a free address, or `undefined` if there is none. */
  choose(isTaken: (ip: string) => boolean): string | undefined {
    const reserved = Math.min(Math.max(MIN_RESERVED, Math.floor(this.#size / RESERVED_SHARE)), MAX_RESERVED);
    const begin = Math.min(reserved + 1, this.#last);
    for (let tries = 0; tries < RANDOM_TRIES; tries++) {
      const ip = this.#at(randomInt(begin, this.#last + 1));
      if (!isTaken(ip)) return ip;
    }
    return this.#firstFree(begin, this.#last, isTaken) ?? this.#firstFree(1, begin - 1, isTaken);
  }

  /**
   * Offset of the last usable address from the start of the range. The last address of an IPv4 range is the broadcast address and therefore
   * not usable.
   */
  get #last(): number {
    return this.family === 'IPv4' ? this.#size - 2 : this.#size - 1;
  }

  #firstFree(from: number, to: number, isTaken: (ip: string) => boolean): string | undefined {
    for (let offset = from; offset <= to; offset++) {
      const ip = this.#at(offset);
      if (!isTaken(ip)) return ip;
    }
    return undefined;
  }

  /** Returns the address at an offset from the start of the range. */
  #at(offset: number): string {
    return formatIp(this.#base + BigInt(offset), this.family);
  }
}
