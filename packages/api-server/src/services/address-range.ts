import { randomInt } from 'node:crypto';
import { BlockList, isIPv4 } from 'node:net';
import { PodwrightError } from '@podwright/base';

/** Addresses at the start are not chosen, so that they remain free for services that name their address, as in upstream. */
const MAX_RESERVED = 256;
const MIN_RESERVED = 16;
const RESERVED_SHARE = 16;
/** Random choices before all addresses are tried in turn. */
const RANDOM_TRIES = 100;

/** An IPv4 range for the cluster IPs of services. */
export class AddressRange {
  /** As in the configuration, such as `10.96.0.0/12`. */
  readonly cidr: string;
  readonly #base: number;
  readonly #size: number;
  readonly #block = new BlockList();

  /** Throws `invalid_argument`. */
  constructor(cidr: string) {
    const [, address = '', prefix = ''] = /^([\d.]+)\/(\d{1,2})$/.exec(cidr) ?? [];
    const bits = Number(prefix);
    if (!isIPv4(address) || !(bits >= 8 && bits <= 28))
      throw new PodwrightError(
        'invalid_argument',
        `the range of cluster IPs ${JSON.stringify(cidr)} must be an IPv4 range between /8 and /28`,
      );
    this.cidr = cidr;
    this.#size = 2 ** (32 - bits);
    this.#base = Math.floor(numberOf(address) / this.#size) * this.#size;
    this.#block.addSubnet(address, bits);
  }

  /** The address of the Service `kubernetes`. */
  get first(): string {
    return textOf(this.#base + 1);
  }

  includes(ip: string): boolean {
    return isIPv4(ip) && this.#block.check(ip) && numberOf(ip) !== this.#base && numberOf(ip) !== this.#last + 1;
  }

  /** A free address; undefined if there is none. */
  choose(isTaken: (ip: string) => boolean): string | undefined {
    const reserved = Math.min(Math.max(MIN_RESERVED, Math.floor(this.#size / RESERVED_SHARE)), MAX_RESERVED);
    const begin = Math.min(this.#base + reserved + 1, this.#last);
    for (let tries = 0; tries < RANDOM_TRIES; tries++) {
      const ip = textOf(randomInt(begin, this.#last + 1));
      if (!isTaken(ip)) return ip;
    }
    return this.#firstFree(begin, this.#last, isTaken) ?? this.#firstFree(this.#base + 1, begin - 1, isTaken);
  }

  /** The last address that a service may have: the one after it is the broadcast address. */
  get #last(): number {
    return this.#base + this.#size - 2;
  }

  #firstFree(from: number, to: number, isTaken: (ip: string) => boolean): string | undefined {
    for (let number = from; number <= to; number++) if (!isTaken(textOf(number))) return textOf(number);
    return undefined;
  }
}

const numberOf = (ip: string): number => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

const textOf = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
