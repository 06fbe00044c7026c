/** Finds and removes what killed nodes left behind on this host: addresses, nf_tables tables and locks. */
import { join } from 'node:path';
import { errorMessage, type Logger } from '@podwright/base';
import { namesInSync } from '@podwright/host';
import { NetlinkSockets, removeAddress, removeTable } from '@podwright/system';
import { LOOPBACK, onLoopback, readHostNetwork } from './host-network.ts';
import {
  hasRoot,
  type NodeClaim,
  ownNetworkNamespace,
  placeOfNode,
  placesOfNodes,
  readClaim,
  removePlace,
  takeTurn,
  tryLock,
  writeClaim,
} from './node-claim.ts';
import { nodeAddresses, overlap, rangeOfName } from './service-range.ts';

/** What an exited node left behind on this host. */
export type LeftClaim = {
  /** The node's root directory; `undefined` if the node ran an older version, which left no record. */
  root: string | undefined;
  /** Addresses on the loopback interface. */
  addresses: readonly string[];
  /** nf_tables tables of family `inet`. */
  tables: readonly string[];
};

/**
 * What to clean up after an exited node. `keeps`: the record to retain, because the node's pods may still need its remaining table;
 * `undefined` if the record can be removed too.
 */
type DeadClaim = LeftClaim & { place: string | undefined; keeps: NodeClaim | undefined };

type Claims = { dead: DeadClaim[]; deadRanges: string[] };

/** Returns what exited nodes left behind on this host, which the next node to start will remove. Requires root. */
export async function findLeftClaims(directory: string): Promise<LeftClaim[]> {
  if (namesInSync(directory).length === 0) return [];
  const endTurn = await takeTurn(directory);
  try {
    const { dead } = lookAt(directory, undefined);
    const present = await loopbackAddresses();
    const shown = dead.map(({ root, addresses, tables }) => ({
      root,
      addresses: addresses.filter((address) => present.has(address)),
      tables,
    }));
    return shown.filter(({ addresses, tables }) => addresses.length > 0 || tables.length > 0);
  } finally {
    endTurn();
  }
}

/**
 * Removes what exited nodes left behind, for a starting node that claims nothing itself. `root`: the starting node's root directory;
 * everything that its earlier process left is removed. Failures are logged.
 */
export async function removeLeftClaims(directory: string, root: string, logger: Logger): Promise<void> {
  if (namesInSync(directory).length === 0) return;
  try {
    const endTurn = await takeTurn(directory);
    try {
      await sweep(directory, { root }, logger);
    } finally {
      endTurn();
    }
  } catch (error) {
    logger.warn({ error: errorMessage(error) }, 'cannot look for what ended nodes have left on this host');
  }
}

/** The starting node: its root directory, and its claim if it has one. */
export type StartingNode = { root: string; claim?: NodeClaim };

/**
 * Removes what exited nodes left behind. Must be called during the caller's turn (`takeTurn`), after the caller has locked its own claims.
 * Failures are logged.
 */
export async function sweep(directory: string, starting: StartingNode, logger: Logger): Promise<void> {
  const { dead, deadRanges } = lookAt(directory, starting);
  for (const claim of dead) await removeClaim(claim, logger);
  for (const name of deadRanges) removePlace(join(directory, name));
}

/** Removes what a node left behind, and then its record. On failure, the record remains, so that the next node to start tries again. */
async function removeClaim({ root, addresses, tables, place, keeps }: DeadClaim, logger: Logger): Promise<void> {
  try {
    await removeAddresses(addresses);
    await removeTables(tables);
    if (place !== undefined && keeps !== undefined) writeClaim(place, keeps);
    else if (place !== undefined) removePlace(place);
    if (addresses.length + tables.length > 0)
      logger.info({ root, addresses, tables }, 'removed what a node has left that has ended');
  } catch (error) {
    const what = { root, addresses, tables, error: errorMessage(error) };
    logger.warn(what, 'cannot remove what a node has left that has ended; the next start tries again');
  }
}

async function removeAddresses(addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  const socket = new NetlinkSockets().open('route');
  try {
    for (const address of addresses) await socket.request([removeAddress(onLoopback(address))]);
  } finally {
    socket.close();
  }
}

async function removeTables(tables: readonly string[]): Promise<void> {
  if (tables.length === 0) return;
  const socket = new NetlinkSockets().open('netfilter');
  try {
    for (const table of tables) await socket.request(removeTable(table));
  } finally {
    socket.close();
  }
}

async function loopbackAddresses(): Promise<Set<string>> {
  const socket = new NetlinkSockets().open('route');
  try {
    const { addresses } = await readHostNetwork(socket);
    return new Set(addresses.filter(({ linkIndex }) => linkIndex === LOOPBACK).map(({ address }) => address));
  } finally {
    socket.close();
  }
}

type RecordedClaim = { place: string; claim: NodeClaim };

/**
 * Finds the claims of nodes on this host that are no longer running. The starting node's own locks are already held, so they do not show
 * that a node is running.
 */
export function lookAt(directory: string, starting: StartingNode | undefined): Claims {
  const living: RecordedClaim[] = [];
  const ended: RecordedClaim[] = [];
  const own = starting && placeOfNode(directory, starting.root);
  for (const place of placesOfNodes(directory)) {
    const claim = readClaim(place);
    const isLockedHere = place === own && starting?.claim !== undefined;
    const isEnded = isLockedHere || isUnlocked(place);
    if (claim !== undefined) (isEnded ? ended : living).push({ place, claim });
    else if (isEnded && !isLockedHere) removePlace(place);
  }
  const ranges = namesInSync(directory).filter((name) => rangeOfName(name) !== undefined);
  const deadRanges = ranges.filter((name) => isUnlocked(join(directory, name)));
  const livingRanges = ranges.filter((name) => !deadRanges.includes(name)).map((name) => rangeOfName(name)!);
  const running = living.map(({ claim }) => claim);
  const used = usedBy(starting?.claim === undefined ? running : [...running, starting.claim], livingRanges);
  const elsewhere = ended.filter(({ claim }) => isElsewhere(claim));
  const here = ended.filter((one) => !elsewhere.includes(one));
  const dead = here.map(({ place, claim }) => {
    const isOwn = place === own;
    const found = leftBy(claim, { used, livingRanges, isOwn });
    return { ...found, place: isOwn && starting?.claim !== undefined ? undefined : place };
  });
  const isNamed = (name: string) => ended.some(({ claim }) => claim.ranges.includes(rangeOfName(name)!));
  const unrecorded = deadRanges.filter((name) => !isNamed(name));
  return {
    dead: [...dead, ...unrecorded.map((name) => unrecordedClaim(name, used))],
    deadRanges: deadRanges.filter((name) => !elsewhere.some(({ claim }) => claim.ranges.includes(rangeOfName(name)!))),
  };
}

/**
 * Whether the node's leftovers are in another network namespace, where this process cannot remove them. False if its root directory is
 * gone: the record is then obsolete, because the network namespace of a simulated host or a container disappears with its processes.
 */
const isElsewhere = (claim: NodeClaim): boolean => claim.netns !== ownNetworkNamespace() && hasRoot(claim);

function isUnlocked(place: string): boolean {
  const unlock = tryLock(place);
  unlock?.();
  return unlock !== undefined;
}

/**
 * Addresses and tables of running nodes. A node of an older version has locked its range but has no record, so its addresses are derived
 * from the range.
 */
type Used = { addresses: ReadonlySet<string>; tables: ReadonlySet<string> };

function usedBy(living: readonly NodeClaim[], livingRanges: readonly string[]): Used {
  const recorded = new Set(living.flatMap(({ ranges }) => ranges));
  const others = livingRanges.filter((range) => !recorded.has(range)).flatMap(nodeAddresses);
  return {
    addresses: new Set([...living.flatMap(({ addresses }) => addresses), ...others]),
    tables: new Set(living.flatMap(({ servicesTable, policiesTable }) => [servicesTable, policiesTable])),
  };
}

/**
 * Returns what to clean up after an exited node. Its addresses are no longer served, so they are removed. Its pods may need its tables
 * until the node starts again, so these are removed only if the node's root directory is gone or if it is the node starting now. The
 * Services table is also removed if another node serves the range.
 */
function leftBy(
  claim: NodeClaim,
  { used, livingRanges, isOwn }: { used: Used; livingRanges: readonly string[]; isOwn: boolean },
): Omit<DeadClaim, 'place'> {
  const { root, ranges, servicesTable, policiesTable } = claim;
  if (claim.netns !== ownNetworkNamespace()) return { root, addresses: [], tables: [], keeps: undefined };
  const isObsolete = isOwn || !hasRoot(claim);
  const isServed = ranges.some((range) => livingRanges.some((one) => overlap(one, range)));
  const tables = [...(isObsolete || isServed ? [servicesTable] : []), ...(isObsolete ? [policiesTable] : [])];
  return {
    root,
    addresses: claim.addresses.filter((address) => !used.addresses.has(address)),
    tables: tables.filter((table) => !used.tables.has(table)),
    keeps: isObsolete ? undefined : { ...claim, addresses: [] },
  };
}

function unrecordedClaim(name: string, used: Used): DeadClaim {
  const addresses = nodeAddresses(rangeOfName(name)!).filter((address) => !used.addresses.has(address));
  return { root: undefined, addresses, tables: [], place: undefined, keeps: undefined };
}
