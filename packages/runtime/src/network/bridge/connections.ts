import { errorMessage, type Failpoint, type Logger } from '@podwright/base';
import type { NetlinkSockets, System } from '@podwright/system';
import { type AddressRange, addressNumber } from './address-range.ts';
import { type AddressStore, subnetFull } from './address-store.ts';
import { again, type HostLinks } from './host-links.ts';
import type { HostSide } from './host-side.ts';
import { hostLinkName, isOfAnotherNode, sandboxOfAlias } from './link-names.ts';
import { PodLinks, type PodPlace } from './pod-links.ts';
import { ReleasedLinks } from './released-links.ts';

export type ConnectionsOptions = {
  bridge: string;
  stateDir: string;
  host: HostSide;
  links: HostLinks;
  store: AddressStore;
  sockets: NetlinkSockets;
  system: System;
  logger: Logger;
  failpoint: Failpoint;
};

/** A pod that is connected; `ranges` are those of its time. */
type Connection = { addresses: string[]; ranges: AddressRange[] };

/**
 * Pods on the bridge: an address of each subnet, and a link. The address comes first and goes last, so that whatever we are
 * killed in leaves an address with the sandbox's id.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pods: PodLinks;
  readonly #released: ReleasedLinks;
  readonly #connected = new Map<string, Connection>();
  /** Addresses of sandboxes, also of those that an earlier process of ours connected. */
  readonly #held: Map<string, string[]>;
  /** Sandboxes that have a link and no address: somebody has removed our files. */
  readonly #strays = new Set<string>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#pods = new PodLinks(options);
    this.#released = new ReleasedLinks({ ...options, onEnd: (sandboxId) => this.#giveBack(sandboxId) });
    this.#held = options.store.held();
  }

  /** Looks for links of sandboxes that no address tells of. For the process alone that has the network. */
  async recover(): Promise<void> {
    this.#options.store.removeUnfinished();
    const { bridge, stateDir, links } = this.#options;
    const all = await links.links();
    if (isOfAnotherNode(all.find(({ name }) => name === bridge)?.alias, stateDir)) return;
    for (const { alias } of all) {
      const sandboxId = sandboxOfAlias(bridge, alias);
      if (sandboxId !== undefined && !this.#held.has(sandboxId)) this.#strays.add(sandboxId);
    }
  }

  /** Whether anything of the sandbox is there, also what is on its way out. */
  has(sandboxId: string): boolean {
    return this.#held.has(sandboxId) || this.#strays.has(sandboxId);
  }

  /** Ids of the sandboxes that have anything and are not on their way out. */
  list(): string[] {
    const ids = new Set([...this.#options.store.held().keys(), ...this.#strays]);
    return [...ids].filter((id) => !this.#released.has(id));
  }

  /** Connects a pod and gives its addresses; one that is connected is left alone. Nothing is left on failure. */
  async connect(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<string[]> {
    const { host, failpoint } = this.#options;
    const { ranges } = host;
    const connection = this.#connected.get(sandboxId);
    if (connection?.ranges === ranges && (await this.#isOnBridge(sandboxId))) return connection.addresses;
    const resume = this.#canResume(sandboxId, ranges);
    if (!resume && this.has(sandboxId)) await this.cut(sandboxId);
    const addresses = this.#held.get(sandboxId) ?? (await this.#reserve(sandboxId, ranges, signal));
    try {
      await failpoint('network-up/reserved');
      await this.#place({ sandboxId, netnsPath, addresses, ranges }, resume);
      await failpoint('network-up/connected');
      signal.throwIfAborted();
    } catch (error) {
      await this.#cutAfter(error, sandboxId);
      throw error;
    }
    this.#connected.set(sandboxId, { addresses, ranges });
    return addresses;
  }

  /** Gives the addresses back as soon as the link has gone with its namespace. May be called any number of times. */
  release(sandboxId: string): void {
    this.#connected.delete(sandboxId);
    this.#released.begin(sandboxId);
  }

  /** Removes the link and gives the addresses back now. */
  async cut(sandboxId: string): Promise<void> {
    this.#connected.delete(sandboxId);
    await this.#released.now(sandboxId);
  }

  /** Removes every link that is on its way out. */
  cutReleased(): Promise<void> {
    return this.#released.allNow();
  }

  /** Leaves what is on its way out for longer than a moment to the next start. */
  close(): Promise<void> {
    return this.#released.close();
  }

  /** Somebody may have removed the link or the bridge of a pod that was connected ahead. */
  async #isOnBridge(sandboxId: string): Promise<boolean> {
    const { links, bridge } = this.#options;
    const [link] = await links.find(hostLinkName(bridge, sandboxId));
    return link?.master !== undefined;
  }

  /** What an earlier process of ours began with addresses of the subnets of today is finished. */
  #canResume(sandboxId: string, ranges: AddressRange[]): boolean {
    const addresses = this.#held.get(sandboxId);
    if (addresses?.length !== ranges.length || this.#released.has(sandboxId)) return false;
    return addresses.every((address, at) => isOf(ranges[at]!, address));
  }

  /** Waits for addresses that are on their way back before it says that there are none. */
  async #reserve(sandboxId: string, ranges: AddressRange[], signal: AbortSignal): Promise<string[]> {
    for (;;) {
      signal.throwIfAborted();
      const addresses = this.#options.store.reserve(sandboxId, ranges);
      if (addresses !== undefined) {
        this.#held.set(sandboxId, addresses);
        return addresses;
      }
      if (!(await this.#released.one(signal))) throw subnetFull(ranges);
    }
  }

  /** Once more if the bridge has vanished meanwhile. */
  async #place(place: Omit<PodPlace, 'bridgeIndex'>, resume: boolean): Promise<void> {
    const { host, links, bridge } = this.#options;
    const connect = async (bridgeIndex: number) =>
      await again((attempt) => this.#pods.connect({ ...place, bridgeIndex }, { resume: resume || attempt > 1 }));
    const index = await host.index();
    try {
      await connect(index);
    } catch (error) {
      if (!(await host.hasLost(index))) throw error;
      await links.remove([hostLinkName(bridge, place.sandboxId)]);
      await connect(await host.index());
    }
  }

  /** What cannot be removed stays in the list. */
  async #cutAfter(cause: unknown, sandboxId: string): Promise<void> {
    await this.cut(sandboxId).catch((error) => {
      const fields = { sandbox: sandboxId, error: errorMessage(error), cause: errorMessage(cause) };
      this.#options.logger.error(fields, 'a link that failed could not be removed either');
    });
  }

  #giveBack(sandboxId: string): void {
    const { store } = this.#options;
    store.release(sandboxId, this.#held.get(sandboxId) ?? store.held().get(sandboxId) ?? []);
    this.#held.delete(sandboxId);
    this.#strays.delete(sandboxId);
  }
}

function isOf({ family, first, last }: AddressRange, address: string): boolean {
  if (address.includes(':') !== (family === 6)) return false;
  const number = addressNumber(address);
  return number >= first && number <= last;
}
