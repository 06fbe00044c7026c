import { addressBytes, addressText, prefixMask } from '@podwright/system';
import type { Subnet } from './subnet.ts';

/** A subnet's addresses, as numbers. The first usable address is the gateway, which is the bridge's own address. */
export type AddressRange = {
  family: 4 | 6;
  /** The subnet in CIDR notation, as configured. */
  cidr: string;
  prefixLength: number;
  network: bigint;
  gateway: string;
  /** First and last address available to pods. Excludes the network address, the gateway and, for IPv4, the broadcast address. */
  first: bigint;
  last: bigint;
};

/** A CIDR block. `network` is its first address, as a number. */
export type Block = { family: 4 | 6; network: bigint; prefixLength: number };

export function rangeOf({ cidr, family }: Subnet): AddressRange {
  const block = blockOf(cidr);
  const end = endOf(block);
  const gateway = addressAt(family, block.network + 1n);
  return { ...block, cidr, gateway, first: block.network + 2n, last: family === 4 ? end - 1n : end };
}

/** Parses `address/prefixLength` and returns the CIDR block that contains the address. */
export function blockOf(cidr: string): Block {
  const [address = '', length] = cidr.split('/');
  const bytes = addressBytes(address);
  const prefixLength = Number(length);
  const mask = numberOf(prefixMask(prefixLength, bytes.length));
  return { family: bytes.length === 4 ? 4 : 6, network: numberOf(bytes) & mask, prefixLength };
}

export const cidrOf = ({ family, network, prefixLength }: Block): string =>
  `${addressAt(family, network)}/${prefixLength}`;

/** Whether two CIDR blocks have an address in common. */
export function overlap(one: Block, other: Block): boolean {
  return one.family === other.family && one.network <= endOf(other) && other.network <= endOf(one);
}

export const addressNumber = (address: string): bigint => numberOf(addressBytes(address));

export function addressAt(family: 4 | 6, number: bigint): string {
  const digits = family === 4 ? 8 : 32;
  return addressText(Buffer.from(number.toString(16).padStart(digits, '0'), 'hex'));
}

/**
 * Derives an interface's hardware address from its IP address. Peers' neighbor entries thereby stay valid when an IP address is reassigned
 * to a new pod: they reach it without waiting for an entry to expire. The hardware addresses are locally administered (IEEE 802, section
 * 8.4).
 */
export function hardwareAddressOf(address: string): Buffer {
  const bytes = addressBytes(address);
  if (bytes.length === 4) return Buffer.from([0x0a, 0x58, ...bytes]);
  return Buffer.from([0x0a, ...bytes.subarray(11)]);
}

const endOf = ({ family, network, prefixLength }: Block): bigint =>
  network + (1n << BigInt((family === 4 ? 32 : 128) - prefixLength)) - 1n;
const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);
