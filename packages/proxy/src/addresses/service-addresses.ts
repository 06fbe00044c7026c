/** The addresses that a standalone node has in its range of Services. They are on the loopback interface while the node runs. */
import { PodwrightError, Undo } from '@podwright/base';
import { addAddress, type LinkAddress, type NetlinkSocket, NetlinkSockets, removeAddress } from '@podwright/system';
import { LOOPBACK, readHostNetwork } from './host-network.ts';
import { addressIn, blockOf, lockServiceRange, prefixOf, routesInto } from './service-range.ts';

/** Nodes of one host may not serve ranges that overlap: each holds the lock in a directory named after its range. */
const LOCKS = '/run/podwright-services';
/** The first address is that of the Service `kubernetes`, as in upstream, and the tenth that of the DNS server, as in clusters of kubeadm. */
const API_OFFSET = 1;
const DNS_OFFSET = 10;

/** The ranges of Services that belong to this node until they are released: one, or one of each IP family. */
export class ServiceAddresses {
  readonly ranges: readonly string[];
  /** The cluster IP of the Service `kubernetes`. */
  readonly api: string;
  /** The cluster IP of the DNS server. */
  readonly dns: string;
  /** The CIDR blocks within the ranges to which the host has routes. Services may get addresses of these. */
  routedElsewhere: readonly string[] = [];
  readonly #undo = new Undo();

  private constructor(ranges: readonly string[]) {
    this.ranges = ranges;
    this.api = addressIn(ranges[0]!, API_OFFSET);
    this.dns = addressIn(ranges[0]!, DNS_OFFSET);
  }

  /**
   * Locks the ranges and adds the addresses, which are of the first range, to the host. Those of a process that was killed are taken over.
   * Rejects with `already_exists` if a running node of this host serves a range that overlaps, and with `failed_precondition` if the host
   * has or routes the addresses elsewhere; then nothing is changed.
   */
  static async claim(ranges: readonly string[], locks: string = LOCKS): Promise<ServiceAddresses> {
    const claimed = new ServiceAddresses(ranges);
    try {
      await claimed.#claim(locks);
      return claimed;
    } catch (error) {
      await claimed.#undo.run();
      throw error;
    }
  }

  /** Removes the addresses and unlocks the ranges. */
  async release(): Promise<void> {
    const [failure] = await this.#undo.run();
    if (failure !== undefined) throw failure.error;
  }

  async #claim(locks: string): Promise<void> {
    for (const range of this.ranges) {
      const unlock = await lockServiceRange(locks, range);
      this.#undo.add(`unlock the range ${range}`, unlock);
    }
    const socket = new NetlinkSockets().open('route');
    this.#undo.add('close the netlink socket', () => socket.close());
    this.routedElsewhere = await this.#checkRoutes(socket);
    for (const address of [this.api, this.dns]) {
      const link: LinkAddress = { linkIndex: LOOPBACK, address, prefixLength: prefixOf(blockOf(address)) };
      this.#undo.add(`remove ${address}`, async () => void (await socket.request([removeAddress(link)])));
      await socket.request([addAddress(link)]); // one that exists was left by an earlier process: this one holds the lock
    }
  }

  /** Returns the value of `routedElsewhere`. */
  async #checkRoutes(socket: NetlinkSocket): Promise<string[]> {
    const { addresses, routed } = await readHostNetwork(socket);
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
