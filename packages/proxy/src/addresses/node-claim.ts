/**
 * What a node of this host has claimed for its Services. Each node holds a lock in a directory of its own and writes a record there before
 * it changes the host, so that a later start can remove what a killed node has left behind (`left-claims.ts`).
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlreadyExists, isErrno, isRecord, PRIVATE_FILE, waitFor } from '@podwright/base';
import { lockDirectory } from '@podwright/system';

export type NodeClaim = {
  /** The root directory of the node, which identifies it. */
  root: string;
  /** The network namespace with the addresses and tables, in the form of `/proc/self/ns/net`. */
  netns: string;
  /** The ranges of Services, as CIDR blocks. */
  ranges: readonly string[];
  /** The node's addresses on the loopback interface. */
  addresses: readonly string[];
  /** The nf_tables table of family `inet` with the rules of Services in the ranges. */
  servicesTable: string;
  /** The nf_tables table of family `inet` with the rules of network policies, which also protect the pods of a stopped node. */
  policiesTable: string;
};

const TAKEN = 'another node of this host has locked it';
const RECORD = 'claim.json';
const PREFIX = 'node-';
/** How often, and how long, a node waits for its turn if several check the claims of each other at the same time. */
const TURN_INTERVAL_MS = 20;
const TURN_LIMIT_MS = 5000;

/** The network namespace of this process. */
export const ownNetworkNamespace = (): string => readlinkSync('/proc/self/ns/net');

/**
 * Waits until no other process of the host looks at the claims or changes them. Returns a function that ends the turn. Rejects with a
 * timeout.
 */
export async function takeTurn(directory: string): Promise<() => void> {
  const signal = AbortSignal.timeout(TURN_LIMIT_MS);
  return await waitFor(() => tryLock(directory), { intervalMs: TURN_INTERVAL_MS, signal });
}

/** Locks a directory; `undefined` if another process, or another caller in this one, holds the lock. */
export function tryLock(directory: string): (() => void) | undefined {
  try {
    return lockDirectory(directory, TAKEN);
  } catch (error) {
    if (isAlreadyExists(error)) return undefined;
    throw error;
  }
}

/** The directory of a node's record and lock. */
export function placeOfNode(directory: string, root: string): string {
  return join(directory, `${PREFIX}${createHash('sha256').update(root).digest('hex').slice(0, 16)}`);
}

/** Returns the directories of all nodes that have left a record or run. */
export function placesOfNodes(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(directory, name));
}

/** The names in the directory of claims; none if it does not exist. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Reads the record of a node. Returns `undefined` if there is none that can be read. */
export function readClaim(place: string): NodeClaim | undefined {
  try {
    const claim: unknown = JSON.parse(readFileSync(join(place, RECORD), 'utf8'));
    return isClaim(claim) ? claim : undefined;
  } catch (error) {
    if (isErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isClaim(claim: unknown): claim is NodeClaim {
  if (!isRecord(claim)) return false;
  const texts = [claim.root, claim.netns, claim.servicesTable, claim.policiesTable];
  const lists = [claim.ranges, claim.addresses];
  const isText = (value: unknown) => typeof value === 'string';
  return texts.every(isText) && lists.every((list) => Array.isArray(list) && list.every(isText));
}

/** Writes the record of a node, in one step. The node's directory must be locked by the caller, or by no process during the caller's turn. */
export function writeClaim(place: string, claim: NodeClaim): void {
  const next = join(place, `${RECORD}.new`);
  writeFileSync(next, JSON.stringify(claim), { mode: PRIVATE_FILE });
  renameSync(next, join(place, RECORD));
}

/** Removes the record and the lock file of a node. The lock itself stays with its holder. */
export function removePlace(place: string): void {
  rmSync(place, { recursive: true, force: true });
}

/** Whether the root directory of the node exists, so that the node may start again. */
export const hasRoot = ({ root }: Pick<NodeClaim, 'root'>): boolean => existsSync(root);
