/** A standalone node's own addresses in its Service range. They are on the loopback interface while the node runs. */
import { type Logger, PodwrightError } from '@podwright/base';
import { addAddress, type NetlinkSocket, NetlinkSockets, removeAddress } from '@podwright/system';
import { LOOPBACK, onLoopback, readHostNetwork } from './host-network.ts';
import { sweep } from './left-claims.ts';
import {
  type NodeClaim,
  ownNetworkNamespace,
  placeOfNode,
  removePlace,
  takeTurn,
  tryLock,
  writeClaim,
} from './node-claim.ts';
import { lockServiceRange, nodeAddresses, placeOfRange, routesInto } from './service-range.ts';

export type ClaimOptions = {
  /** The Service ranges: one, or one per IP family. The node's own addresses are in the first one. */
  ranges: readonly string[];
  /** The root directory of the node. */
  root: string;
  /** Names of the nf_tables tables that the node will write. */
  tables: Pick<NodeClaim, 'servicesTable' | 'policiesTable'>;
  /** The directory with the locks and records of all nodes on the host. */
  directory: string;
  logger: Logger;
};

/** The Service ranges locked by this node, and its own addresses in the first one. */
export class ServiceAddresses {
  readonly ranges: readonly string[];
  /** The cluster IP of the Service `kubernetes`. */
  readonly api: string;
  /** The cluster IP of the DNS server. */
  readonly dns: string;
  /**
   * CIDR blocks within the ranges that the host routes elsewhere. Services may get addresses in these blocks, which makes the hosts there
   * unreachable from this node.
   */
  routedElsewhere: readonly string[] = [];
  readonly #options: ClaimOptions;
  readonly #claim: NodeClaim;
  readonly #socket: NetlinkSocket;
  /** Directories locked by this node, with the functions that unlock them. */
  readonly #locked = new Map<string, () => void>();
  /** The node's addresses currently on the loopback interface. */
  readonly #added = new Set<string>();
  #isRecorded = false;

  private constructor(options: ClaimOptions) {
    const { ranges, root, tables } = options;
    this.#options = options;
    this.ranges = ranges;
    [this.api, this.dns] = nodeAddresses(ranges[0]!);
    this.#claim = { root, ranges, netns: ownNetworkNamespace(), addresses: [this.api, this.dns], ...tables };
    this.#socket = new NetlinkSockets().open('route');
  }

  /**
   * Locks the ranges, records the claim, and adds the node's two addresses, which are in the first range, to the loopback interface.
   * Addresses left there by a killed process are reused. Also removes what exited nodes left behind (`left-claims.ts`). Rejects with
   * `already_exists` if a running node on this host serves an overlapping range, and with `failed_precondition` if another interface has
   * one of the addresses or a route within the ranges covers one of them; nothing is claimed in these cases.
   */
  static async claim(options: ClaimOptions): Promise<ServiceAddresses> {
    const claimed = new ServiceAddresses(options);
    try {
      await claimed.#lock();
      claimed.routedElsewhere = await claimed.#checkRoutes();
      for (const address of claimed.#claim.addresses) await claimed.#add(address);
      return claimed;
    } catch (error) {
      await Promise.allSettled([claimed.release({ rulesStay: false })]); // the caller reports the first error
      throw error;
    }
  }

  /**
   * Removes the addresses and unlocks the ranges. `rulesStay`: the node leaves its tables for pods that keep running, so its record
   * remains. Tries all steps, then rejects with the first error; the record of what is left remains for the next start.
   */
  async release({ rulesStay }: { rulesStay: boolean }): Promise<void> {
    const endTurn = await takeTurn(this.#options.directory).catch(() => undefined);
    try {
      const removals = await Promise.allSettled([...this.#added].map((address) => this.#remove(address)));
      if (endTurn !== undefined) this.#removeLocks(rulesStay); // otherwise, a later start removes them
      const failure = removals.find(({ status }) => status === 'rejected');
      if (failure !== undefined) throw (failure as PromiseRejectedResult).reason;
    } finally {
      for (const unlock of this.#locked.values()) unlock();
      this.#locked.clear();
      this.#socket.close();
      endTurn?.();
    }
  }

  /** Locks the ranges and the node's own directory, removes what exited nodes left behind, and writes the record. */
  async #lock(): Promise<void> {
    const { directory, root, logger } = this.#options;
    const endTurn = await takeTurn(directory);
    try {
      for (const range of this.ranges)
        this.#locked.set(placeOfRange(directory, range), lockServiceRange(directory, range));
      const place = placeOfNode(directory, root);
      const unlock = tryLock(place);
      if (unlock === undefined)
        throw new PodwrightError('already_exists', `another node has the root directory ${root}`);
      this.#locked.set(place, unlock);
      await sweep(directory, { root, claim: this.#claim }, logger);
      writeClaim(place, this.#claim);
      this.#isRecorded = true;
    } finally {
      endTurn();
    }
  }

  /**
   * Removes the directories locked by this node. Must be called during the node's turn (`takeTurn`). The record remains if the node leaves
   * rules or addresses on the host.
   */
  #removeLocks(rulesStay: boolean): void {
    const { directory, root } = this.#options;
    const own = placeOfNode(directory, root);
    const hasRemains = rulesStay || this.#added.size > 0;
    for (const place of this.#locked.keys()) if (place !== own) removePlace(place);
    if (!this.#isRecorded) return; // a record of an earlier process is still true
    if (hasRemains) writeClaim(own, { ...this.#claim, addresses: [...this.#added] });
    else removePlace(own);
  }

  async #add(address: string): Promise<void> {
    this.#added.add(address);
    await this.#socket.request([addAddress(onLoopback(address))]); // an existing one was left by an earlier process, as this one holds the lock
  }

  async #remove(address: string): Promise<void> {
    await this.#socket.request([removeAddress(onLoopback(address))]);
    this.#added.delete(address);
  }

  /** Checks that the host does not use the node's addresses. Returns the value for `routedElsewhere`. */
  async #checkRoutes(): Promise<string[]> {
    const { addresses, routed } = await readHostNetwork(this.#socket);
    const own = [this.api, this.dns];
    const held = addresses.find(({ address, linkIndex }) => own.includes(address) && linkIndex !== LOOPBACK);
    if (held !== undefined) throw this.#conflict(`an interface of this host has the address ${held.address}`);
    const found = this.ranges.map((range) => routesInto(range, own, routed));
    const [taken] = found.flatMap((one) => one.taken);
    if (taken !== undefined) throw this.#conflict(`this host routes ${taken} elsewhere`);
    return found.flatMap(({ others }) => others);
  }

  #conflict(reason: string): PodwrightError {
    return new PodwrightError('failed_precondition', `serve Services in ${this.ranges.join(' and ')}: ${reason}`);
  }
}
