/**
 * The addresses and tables that a node on this host has claimed for its Services. Each node holds a lock in its own directory and writes a
 * record there before changing the host, so that the next node to start can remove what a killed node left behind (`left-claims.ts`).
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlreadyExists, isErrno, isRecord, waitFor } from '@podwright/base';
import { namesInSync, writeFileAtomicSync } from '@podwright/host';
import { lockDirectory } from '@podwright/system';

export type NodeClaim = {
  /** The node's root directory, which identifies it. */
  root: string;
  /** The network namespace that contains the addresses and tables, as in `/proc/self/ns/net`. */
  netns: string;
  /** The Service ranges, as CIDR blocks. */
  ranges: readonly string[];
  /** The node's addresses on the loopback interface. */
  addresses: readonly string[];
  /** The nf_tables table of family `inet` with the rules for Services in the ranges. */
  servicesTable: string;
  /** The nf_tables table of family `inet` with the network policy rules, which protect the node's pods even while it is stopped. */
  policiesTable: string;
};

const TAKEN = 'another node of this host has locked it';
const RECORD = 'claim.json';
const PREFIX = 'node-';
/** Polling interval while waiting for another process's turn (`takeTurn`) to end. */
const TURN_INTERVAL_MS = 20;
const TURN_LIMIT_MS = 5000;

/** The network namespace of this process. */
export const ownNetworkNamespace = (): string => readlinkSync('/proc/self/ns/net');

/**
 * Waits until no other process on the host is reading or changing the claims. Returns a function that ends the turn. Rejects on timeout.
 */
export async function takeTurn(directory: string): Promise<() => void> {
  const signal = AbortSignal.timeout(TURN_LIMIT_MS);
  return await waitFor(() => tryLock(directory), { intervalMs: TURN_INTERVAL_MS, signal });
}

/** Locks a directory. Returns `undefined` if another process, or another caller in this one, holds the lock. */
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

/** Returns the directories of all nodes that are running or have left a record. */
export function placesOfNodes(directory: string): string[] {
  return namesInSync(directory)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(directory, name));
}

/** Reads a node's record. Returns `undefined` if there is no valid one. */
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

/**
 * Writes a node's record atomically. The caller must have locked the node's directory or, if no process has locked it, must have its turn.
 */
export function writeClaim(place: string, claim: NodeClaim): void {
  writeFileAtomicSync(join(place, RECORD), JSON.stringify(claim));
}

/** Removes a node's record and lock file. The lock itself remains with its holder. */
export function removePlace(place: string): void {
  rmSync(place, { recursive: true, force: true });
}

/** Whether the node's root directory exists, in which case the node may start again. */
export const hasRoot = ({ root }: Pick<NodeClaim, 'root'>): boolean => existsSync(root);
