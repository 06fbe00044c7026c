import { isIP } from 'node:net';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { namesInSync } from '@podwright/host';
import { addressBytes, addressText, lockDirectory } from '@podwright/system';
import { hasRoot, placesOfNodes, readClaim, tryLock } from './node-claim.ts';

const TAKEN = 'another node of this host serves the range';
/**
 * Offsets into the Service range: the first address belongs to the Service `kubernetes`, as in upstream, and the tenth to the DNS server,
 * as in kubeadm clusters.
 */
const API_OFFSET = 1;
const DNS_OFFSET = 10;

/**
 * Locks a Service range (a CIDR block) for a node, because nodes on the same host must not serve overlapping ranges. `directory` contains a
 * directory for each served range, which the serving node keeps locked. Must be called during the caller's turn (`takeTurn`). Returns a
 * function that unlocks the range. Throws `already_exists` if a running node serves an overlapping range.
 */
export function lockServiceRange(directory: string, range: string): () => void {
  for (const name of namesInSync(directory)) {
    const other = rangeOfName(name);
    if (other === undefined || !overlap(other, range)) continue;
    const unlock = tryLock(join(directory, name));
    if (unlock === undefined) throw new PodwrightError('already_exists', `${TAKEN} ${other}`);
    unlock();
  }
  return lockDirectory(placeOfRange(directory, range), TAKEN);
}

/** Returns the directory to lock for a range. */
export const placeOfRange = (directory: string, range: string): string => join(directory, range.replace('/', '-'));

/** Returns the range whose lock is in the directory with this name; `undefined` for other directories and files. */
export function rangeOfName(name: string): string | undefined {
  const range = name.replace('-', '/');
  return bounds(range) === undefined ? undefined : range;
}

/** Returns the Service ranges of all nodes on this host that have one, including exited nodes that may start again. */
export function rangesOfNodes(directory: string): string[] {
  const locked = namesInSync(directory).flatMap((name) => rangeOfName(name) ?? []);
  const recorded = placesOfNodes(directory).flatMap((place) => readClaim(place) ?? []);
  return [...new Set([...locked, ...recorded.filter(hasRoot).flatMap(({ ranges }) => ranges)])];
}

/** Returns the addresses in its range that a node uses itself: for its API and for its DNS server. */
export const nodeAddresses = (range: string): [api: string, dns: string] => [
  addressIn(range, API_OFFSET),
  addressIn(range, DNS_OFFSET),
];

/** Returns the address at an offset from the first address of a range. */
export function addressIn(range: string, offset: number): string {
  const { from, width } = bounds(range)!;
  const digits = (from + BigInt(offset)).toString(16).padStart(width / 4, '0');
  return addressText(Buffer.from(digits, 'hex'));
}

/**
 * Returns the host's routes into a Service range; `taken` are those that contain one of the node's `own` addresses. Routes wider than the
 * range are ignored, because hosts often route an entire private network, such as 10.0.0.0/8, that contains the range.
 */
export function routesInto(
  range: string,
  own: readonly string[],
  routed: readonly string[],
): { taken: string[]; others: string[] } {
  const inside = routed.filter((block) => prefixOf(block) >= prefixOf(range) && overlap(block, range));
  const isTaken = (block: string) => own.some((address) => overlap(block, blockOf(address)));
  return { taken: inside.filter(isTaken), others: inside.filter((block) => !isTaken(block)) };
}

/** The CIDR block of a single address. */
export const blockOf = (address: string): string => `${address}/${isIP(address) === 6 ? 128 : 32}`;

/** The prefix length of a CIDR block. */
export const prefixOf = (block: string): number => Number(block.split('/')[1]);

/** Whether two CIDR blocks overlap; false if either text is not a CIDR block. */
export function overlap(a: string, b: string): boolean {
  const [first, second] = [bounds(a), bounds(b)];
  if (first === undefined || second === undefined || first.width !== second.width) return false;
  return first.from <= second.to && second.from <= first.to;
}

/** Returns the first and last address of a CIDR block as `width`-bit numbers; `undefined` for any other text. */
function bounds(cidr: string): { from: bigint; to: bigint; width: number } | undefined {
  const [address = '', length = ''] = cidr.split('/');
  const width = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const hostBits = width - Number(length);
  if (width === 0 || !Number.isInteger(hostBits) || hostBits < 0) return undefined;
  const number = BigInt(`0x${addressBytes(address).toString('hex')}`);
  const from = (number >> BigInt(hostBits)) << BigInt(hostBits);
  return { from, to: from + (1n << BigInt(hostBits)) - 1n, width };
}
