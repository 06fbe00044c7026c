import { errorMessage, PodwrightError } from '@podwright/base';
import { addForwarding, changeLink } from '@podwright/system';
import { NETWORK_RECHECK_MS } from '../../time-limits.ts';
import { type AddressRange, hardwareAddressOf, rangeOf } from './address-range.ts';
import type { AddressStore } from './address-store.ts';
import { HostBridge } from './host-bridge.ts';
import { type HostLinks, retryLostAnswers } from './host-links.ts';
import type { HostRules } from './host-rules.ts';
import { sandboxOfAlias } from './link-names.ts';
import { POD_PORT } from './pod-links.ts';
import type { Subnet } from './subnet.ts';
import { uplinkMtu } from './uplink-mtu.ts';

export type HostSideOptions = {
  bridge: string;
  subnets: Subnet[];
  /** MTU of pods' links; 0 means that of the host's uplink. */
  mtu: number;
  stateDir: string;
  links: HostLinks;
  store: AddressStore;
  rules: HostRules;
};

/**
 * The host side of the pod network: the bridge and the rules for its subnets. Sets them up once per process, and again if another program
 * has removed them.
 */
export class HostSide {
  readonly #options: HostSideOptions;
  readonly #bridge: HostBridge;
  readonly #rules: HostRules;
  #mtu: number;
  #isActive = false;
  #subnets: Subnet[];
  #ranges: AddressRange[];
  #ensured: Promise<number> | undefined;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: HostSideOptions) {
    this.#options = options;
    this.#bridge = new HostBridge(options);
    this.#rules = options.rules;
    this.#mtu = options.mtu;
    this.#subnets = options.subnets;
    this.#ranges = options.subnets.map(rangeOf);
  }

  get subnets(): readonly Subnet[] {
    return this.#subnets;
  }

  /** MTU for new pods' links. Determined once the bridge exists, and updated periodically. */
  get mtu(): number {
    return this.#mtu;
  }

  /** Address ranges of the current subnets. Returns the same array until the subnets change. */
  get ranges(): AddressRange[] {
    return this.#ranges;
  }

  setSubnets(subnets: Subnet[]): void {
    this.#subnets = subnets;
    this.#ranges = subnets.map(rangeOf);
    this.#rules.setSubnets(subnets);
    this.#invalidate();
  }

  /**
   * Creates the bridge and its rules, and returns the bridge's interface index. Does this once per process, and again if the bridge or its
   * rules have been removed.
   */
  ensureBridge(): Promise<number> {
    if (this.#ensured !== undefined) return this.#ensured;
    this.#isActive = true;
    const ensured = this.#ensure();
    this.#ensured = ensured;
    ensured.catch(() => {
      if (this.#ensured === ensured) this.#ensured = undefined; // the next pod sets up the bridge again
    });
    return ensured;
  }

  /**
   * Marks the network as in use by pods from before a restart, so that their setup is repaired right away instead of when the next pod
   * starts.
   */
  markInUse(): void {
    this.#isActive = true;
  }

  /** Returns true if the bridge with this interface index has been removed. The next `ensureBridge` then recreates it. */
  async invalidateIfLost(index: number): Promise<boolean> {
    const { bridge, links } = this.#options;
    const [link] = await links.find(bridge);
    if (link?.index === index) return false;
    this.#invalidate();
    return true;
  }

  /**
   * Returns a user-facing message if pods cannot get a network; otherwise `undefined`. Rechecks a working setup only periodically, and
   * repairs it if another program removed part of it (`nft flush ruleset`, a firewall reload). Changes nothing before the first pod.
   */
  async problem(): Promise<string | undefined> {
    if (performance.now() - this.#checkedAtMs < NETWORK_RECHECK_MS) return undefined;
    const ranges = this.#ranges;
    try {
      const problem = (await this.#bridge.problem(ranges)) ?? (await this.#rules.missing());
      if (problem !== undefined) return problem;
      if (this.#isActive) await this.#repair();
      if (ranges === this.#ranges) this.#checkedAtMs = performance.now(); // if not, `setSubnets` was called during the check
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }

  /** Throws `failed_precondition` if the bridge belongs to another Podwright node on this host. */
  async requireOwnBridge(): Promise<void> {
    const message = await this.#bridge.foreignBridgeMessage();
    if (message !== undefined) throw new PodwrightError('failed_precondition', message);
  }

  /** Removes the rules, and the bridge if this node created it. No-op if the bridge belongs to another Podwright node on this host. */
  async remove(): Promise<void> {
    if ((await this.#bridge.foreignBridgeMessage()) !== undefined) return;
    await this.#rules.remove();
    await this.#bridge.remove();
    this.#isActive = false;
    this.#invalidate();
  }

  async #repair(): Promise<void> {
    if (this.#ensured === undefined) return void (await this.ensureBridge());
    if (await this.invalidateIfLost(await this.#ensured)) return void (await this.ensureBridge());
    await retryLostAnswers(() => this.#bridge.ensure(this.#ranges));
    await this.#updateMtu();
    await this.#rules.recheck();
  }

  #invalidate(): void {
    this.#ensured = undefined;
    this.#checkedAtMs = Number.NEGATIVE_INFINITY;
  }

  async #ensure(): Promise<number> {
    const index = await retryLostAnswers(() => this.#bridge.ensure(this.#ranges));
    await this.#updateMtu();
    await this.#connectPorts(index);
    await this.#rules.ensure();
    return index;
  }

  async #updateMtu(): Promise<void> {
    const { links, mtu } = this.#options;
    if (mtu === 0) this.#mtu = uplinkMtu(await links.links(), await links.defaultRoutes());
  }

  /**
   * Reconnects pods' bridge ports after the bridge was removed, possibly before a restart of this process. Also repairs ports on which an
   * earlier version of Podwright left learning enabled.
   */
  async #connectPorts(bridgeIndex: number): Promise<void> {
    const { bridge, links, store } = this.#options;
    const own = (await links.links()).flatMap((link) => {
      const sandboxId = link.kind === 'veth' ? sandboxOfAlias(bridge, link.alias) : undefined;
      const needsChange = link.master === undefined || (link.master === bridgeIndex && link.learns);
      return sandboxId !== undefined && needsChange ? [{ ...link, sandboxId }] : [];
    });
    if (own.length === 0) return;
    const held = store.held();
    const changes = own.flatMap(({ name, index, master, sandboxId }) => [
      ...(master === undefined ? [changeLink(name, { bridgeIndex })] : []),
      changeLink(name, POD_PORT),
      ...(held.get(sandboxId) ?? [])
        .slice(0, 1)
        .map((address) => addForwarding({ linkIndex: index, hardwareAddress: hardwareAddressOf(address) })),
    ]);
    await links.request(changes.map((change) => ({ ...change, ignore: ['ENODEV', 'ENOTSUP'] })));
  }
}
