/** The addresses that a standalone node itself uses in its range of Services. They are on the loopback interface while the node runs. */
import { PodwrightError, Undo } from '@podwright/base';
import { addAddress, type LinkAddress, type NetlinkSocket, NetlinkSockets, removeAddress } from '@podwright/system';
import { LOOPBACK, readHostNetwork } from './host-network.ts';
import { addressIn, blockOf, LOCKS, lockServiceRange, prefixOf, routesInto } from './service-range.ts';

/** The first address is that of the Service `kubernetes`, as in upstream, and the tenth that of the DNS server, as in clusters of kubeadm. */
const API_OFFSET = 1;
const DNS_OFFSET = 10;

/** The ranges of Services that this node has locked (one, or one of each IP family), and its own addresses in the first one. */
export class ServiceAddresses {
  readonly ranges: readonly string[];
  /** The cluster IP of the Service `kubernetes`. */
  readonly api: string;
  /** The cluster IP of the DNS server. */
  readonly dns: string;
  /**
   * CIDR blocks within the ranges to which the host has routes. Services may get addresses in these blocks, whose hosts this node
   * then cannot reach.
   */
  routedElsewhere: readonly string[] = [];
  readonly #undo = new Undo();

  private constructor(ranges: readonly string[]) {
    this.ranges = ranges;
    this.api = addressIn(ranges[0]!, API_OFFSET);
    this.dns = addressIn(ranges[0]!, DNS_OFFSET);
  }

  /**
   * Locks the ranges and adds the two addresses, which are in the first range, to the loopback interface. If a killed process has left them
   * there, they are used. Rejects with `already_exists` if a running node of this host serves an overlapping range, and with
   * `failed_precondition` if another interface has one of the addresses, or a route within the ranges leads to it. Nothing is changed then.
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

  /** Removes the addresses and unlocks the ranges. Rejects with the first error after all steps were tried. */
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
      await socket.request([addAddress(link)]); // an existing one was left by an earlier process, as this one holds the lock
    }
  }

  /** Checks that the host does not use the node's addresses. Returns the value of `routedElsewhere`. */
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
