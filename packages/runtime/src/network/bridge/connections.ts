import { errorMessage, type Failpoint, type Logger } from '@podwright/base';
import type { NetlinkSockets, System } from '@podwright/system';
import { type AddressRange, addressNumber } from './address-range.ts';
import { type AddressStore, subnetFull } from './address-store.ts';
import { type HostLinks, retryLostAnswers } from './host-links.ts';
import type { HostSide } from './host-side.ts';
import { hostLinkName, isOfAnotherNode, sandboxOfAlias } from './link-names.ts';
import { type PodConnection, PodLinks } from './pod-links.ts';
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

/** A connected pod: its IP addresses, and the pod subnets (`ranges`) at the time when it was connected. */
type Connection = { addresses: string[]; ranges: AddressRange[] };

/**
 * Connects pods to the bridge: each pod gets an address in each subnet, and a veth pair. The address is reserved first and released last,
 * so after a crash at any point the address file still identifies the sandbox.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pods: PodLinks;
  readonly #released: ReleasedLinks;
  readonly #connected = new Map<string, Connection>();
  /** Addresses by sandbox ID, including those of sandboxes connected before a restart. */
  readonly #held: Map<string, string[]>;
  /** Sandboxes that have a veth pair but no address, because another program removed the address files. */
  readonly #strays = new Set<string>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#pods = new PodLinks(options);
    this.#released = new ReleasedLinks({ ...options, onEnd: (sandboxId) => this.#releaseAddresses(sandboxId) });
    this.#held = options.store.held();
  }

  /** Finds sandboxes with a veth pair but no address. To be called only by the process that owns the network. */
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

  /** Whether the sandbox has a veth pair or an address, even if they are being released. */
  has(sandboxId: string): boolean {
    return this.#held.has(sandboxId) || this.#strays.has(sandboxId);
  }

  /** Returns the IDs of sandboxes that have a veth pair or an address, unless they are being released. */
  list(): string[] {
    const ids = new Set([...this.#options.store.held().keys(), ...this.#strays]);
    return [...ids].filter((id) => !this.#released.has(id));
  }

  /** Connects a pod and returns its addresses. No-op for a pod that is already connected. Leaves nothing behind on failure. */
  async connect(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<string[]> {
    const { host, failpoint } = this.#options;
    const { ranges } = host;
    const connection = this.#connected.get(sandboxId);
    if (connection?.ranges === ranges && (await this.#isOnBridge(sandboxId))) return connection.addresses;
    const resume = this.#canResume(sandboxId, ranges);
    if (!resume && this.has(sandboxId)) await this.disconnect(sandboxId);
    const addresses = this.#held.get(sandboxId) ?? (await this.#reserve(sandboxId, ranges, signal));
    try {
      await failpoint('network-up/reserved');
      await this.#connectLinks({ sandboxId, netnsPath, addresses, ranges }, resume);
      await failpoint('network-up/connected');
      signal.throwIfAborted();
    } catch (error) {
      await this.#disconnectAfter(error, sandboxId);
      throw error;
    }
    this.#connected.set(sandboxId, { addresses, ranges });
    return addresses;
  }

  /** Releases a sandbox's addresses as soon as the kernel has removed its veth pair together with the network namespace. Idempotent. */
  release(sandboxId: string): void {
    this.#connected.delete(sandboxId);
    this.#released.begin(sandboxId);
  }

  /** Removes a sandbox's veth pair immediately, then releases its addresses. */
  async disconnect(sandboxId: string): Promise<void> {
    this.#connected.delete(sandboxId);
    await this.#released.removeNow(sandboxId);
  }

  /** Immediately removes all veth pairs that are being released, without waiting for their namespaces to disappear. */
  removeReleased(): Promise<void> {
    return this.#released.removeAllNow();
  }

  /** Waits briefly for veth pairs that are being released. Remaining ones are removed at the next start. */
  close(): Promise<void> {
    return this.#released.close();
  }

  /** Whether a connected pod is still attached to the bridge: another program might have removed its veth pair or the bridge. */
  async #isOnBridge(sandboxId: string): Promise<boolean> {
    const { links, bridge } = this.#options;
    const [link] = await links.find(hostLinkName(bridge, sandboxId));
    return link?.master !== undefined;
  }

  /** Whether a connection begun before a restart can be completed, because its addresses are in the current subnets. */
  #canResume(sandboxId: string, ranges: AddressRange[]): boolean {
    const addresses = this.#held.get(sandboxId);
    if (addresses?.length !== ranges.length || this.#released.has(sandboxId)) return false;
    return addresses.every((address, at) => isInRange(ranges[at]!, address));
  }

  /** Reserves a pod's addresses. If none are free, waits for addresses that are being released. */
  async #reserve(sandboxId: string, ranges: AddressRange[], signal: AbortSignal): Promise<string[]> {
    for (;;) {
      signal.throwIfAborted();
      const addresses = this.#options.store.reserve(sandboxId, ranges);
      if (addresses !== undefined) {
        this.#held.set(sandboxId, addresses);
        return addresses;
      }
      if (!(await this.#released.waitForOne(signal))) throw subnetFull(ranges);
    }
  }

  /** Connects the pod's veth pair to the bridge. If the bridge has been removed meanwhile, recreates it and tries once more. */
  async #connectLinks(pod: Omit<PodConnection, 'bridgeIndex' | 'mtu'>, resume: boolean): Promise<void> {
    const { host, links, bridge } = this.#options;
    const connect = async (bridgeIndex: number) =>
      await retryLostAnswers((attempt) =>
        this.#pods.connect({ ...pod, bridgeIndex, mtu: host.mtu }, { resume: resume || attempt > 1 }),
      );
    const index = await host.ensureBridge();
    try {
      await connect(index);
    } catch (error) {
      if (!(await host.invalidateIfLost(index))) throw error;
      await links.remove([hostLinkName(bridge, pod.sandboxId)]);
      await connect(await host.ensureBridge());
    }
  }

  /** Disconnects a sandbox after a failed `connect`. If the veth pair cannot be removed, `list` still returns the sandbox. */
  async #disconnectAfter(cause: unknown, sandboxId: string): Promise<void> {
    await this.disconnect(sandboxId).catch((error) => {
      const fields = { sandbox: sandboxId, error: errorMessage(error), cause: errorMessage(cause) };
      this.#options.logger.error(fields, 'cannot remove a link after its setup failed');
    });
  }

  #releaseAddresses(sandboxId: string): void {
    const { store } = this.#options;
    store.release(sandboxId, this.#held.get(sandboxId) ?? store.held().get(sandboxId) ?? []);
    this.#held.delete(sandboxId);
    this.#strays.delete(sandboxId);
  }
}

function isInRange({ family, first, last }: AddressRange, address: string): boolean {
  if (address.includes(':') !== (family === 6)) return false;
  const number = addressNumber(address);
  return number >= first && number <= last;
}
