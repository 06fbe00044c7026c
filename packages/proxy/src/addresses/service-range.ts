import { readdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isAlreadyExists, isErrno, PodwrightError, waitFor } from '@podwright/base';
import { addressBytes, addressText, lockDirectory } from '@podwright/system';

/** Nodes of one host may not serve ranges that overlap: each holds the lock in a directory named after its range. */
export const LOCKS = '/run/podwright-services';
const TAKEN = 'another node of this host serves the range';
/** How often, and how long, a node waits for its turn if several check the ranges of each other at the same time. */
const TURN_INTERVAL_MS = 20;
const TURN_LIMIT_MS = 5000;

/**
 * Locks a range of Services, a CIDR block, for a node of this host. `directory` has a directory for each range that a node has served,
 * which that node holds locked. Returns a function that unlocks the range. Throws `already_exists` if a running node serves a range that
 * overlaps.
 */
export async function lockServiceRange(directory: string, range: string): Promise<() => void> {
  const endTurn = await waitFor(() => tryLock(directory), {
    intervalMs: TURN_INTERVAL_MS,
    signal: AbortSignal.timeout(TURN_LIMIT_MS),
  });
  try {
    for (const name of readdirSync(directory)) {
      if (!overlap(name.replace('-', '/'), range)) continue;
      const unlock = tryLock(join(directory, name));
      if (unlock === undefined) throw new PodwrightError('already_exists', `${TAKEN} ${name.replace('-', '/')}`);
      unlock();
    }
    return lockDirectory(join(directory, range.replace('/', '-')), TAKEN);
  } finally {
    endTurn();
  }
}

/** Returns the ranges of the host's nodes with an API. Those of stopped nodes may be among them. */
export function rangesOfNodes(directory: string = LOCKS): string[] {
  try {
    return readdirSync(directory)
      .map((name) => name.replace('-', '/'))
      .filter((name) => bounds(name) !== undefined);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

function tryLock(directory: string): (() => void) | undefined {
  try {
    return lockDirectory(directory, TAKEN);
  } catch (error) {
    if (isAlreadyExists(error)) return undefined;
    throw error;
  }
}

/** Returns the address at an offset from the first address of a range. */
export function addressIn(range: string, offset: number): string {
  const { from, width } = bounds(range)!;
  const digits = (from + BigInt(offset)).toString(16).padStart(width / 4, '0');
  return addressText(Buffer.from(digits, 'hex'));
}

/**
 * Returns the routes of the host that lead into a range of Services: `taken` are those that contain one of the node's `own` addresses.
 * Wider routes than the range are ignored: hosts often route a whole private network, such as 10.0.0.0/8, of which the range is a part.
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

/** The length of the prefix of a CIDR block. */
export const prefixOf = (block: string): number => Number(block.split('/')[1]);

/** Whether two CIDR blocks have an address in common; false if one of the texts is not a CIDR block. */
export function overlap(a: string, b: string): boolean {
  const [first, second] = [bounds(a), bounds(b)];
  if (first === undefined || second === undefined || first.width !== second.width) return false;
  return first.from <= second.to && second.from <= first.to;
}

/** Returns the first and the last address of a CIDR block as numbers of `width` bits; `undefined` for another text. */
function bounds(cidr: string): { from: bigint; to: bigint; width: number } | undefined {
  const [address = '', length = ''] = cidr.split('/');
  const width = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const hostBits = width - Number(length);
  if (width === 0 || !Number.isInteger(hostBits) || hostBits < 0) return undefined;
  const number = BigInt(`0x${addressBytes(address).toString('hex')}`);
  const from = (number >> BigInt(hostBits)) << BigInt(hostBits);
  return { from, to: from + (1n << BigInt(hostBits)) - 1n, width };
}
