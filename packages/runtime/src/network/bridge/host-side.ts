import { errorMessage, PodwrightError } from '@podwright/base';
import { addForwarding, changeLink } from '@podwright/system';
import { NETWORK_RECHECK_MS } from '../../time-limits.ts';
import { type AddressRange, hardwareAddressOf, rangeOf } from './address-range.ts';
import type { AddressStore } from './address-store.ts';
import { HostBridge } from './host-bridge.ts';
import { again, type HostLinks } from './host-links.ts';
import type { HostRules } from './host-rules.ts';
import { sandboxOfAlias } from './link-names.ts';
import { POD_PORT } from './pod-links.ts';
import type { Subnet } from './subnet.ts';

export type HostSideOptions = {
  bridge: string;
  subnets: Subnet[];
  stateDir: string;
  links: HostLinks;
  store: AddressStore;
  rules: HostRules;
};

/** What the pods of a bridge need on the host: the bridge and the rules of its subnets, made once and again when they vanished. */
export class HostSide {
  readonly #options: HostSideOptions;
  readonly #bridge: HostBridge;
  readonly #rules: HostRules;
  #wanted = false;
  #subnets: Subnet[];
  #ranges: AddressRange[];
  #ensured: Promise<number> | undefined;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: HostSideOptions) {
    this.#options = options;
    this.#bridge = new HostBridge(options);
    this.#rules = options.rules;
    this.#subnets = options.subnets;
    this.#ranges = options.subnets.map(rangeOf);
  }

  get subnets(): readonly Subnet[] {
    return this.#subnets;
  }

  /** Of the subnets of today: the same array until they change. */
  get ranges(): AddressRange[] {
    return this.#ranges;
  }

  setSubnets(subnets: Subnet[]): void {
    this.#subnets = subnets;
    this.#ranges = subnets.map(rangeOf);
    this.#rules.setSubnets(subnets);
    this.#forget();
  }

  /** Makes all of it, once a process unless something vanished, and gives the bridge's index. */
  index(): Promise<number> {
    if (this.#ensured !== undefined) return this.#ensured;
    this.#wanted = true;
    const ensured = this.#ensure();
    this.#ensured = ensured;
    ensured.catch(() => {
      if (this.#ensured === ensured) this.#ensured = undefined; // the next pod tries again
    });
    return ensured;
  }

  /** There are pods from before: what they need is put in order without waiting for the next one. */
  keep(): void {
    this.#wanted = true;
  }

  /** Whether the bridge has gone that had this index; `index` then makes another one. */
  async hasLost(index: number): Promise<boolean> {
    const { bridge, links } = this.#options;
    const [link] = await links.find(bridge);
    if (link?.index === index) return false;
    this.#forget();
    return true;
  }

  /**
   * Why pods could get no network, for people. What was well is looked at only now and then, and put in order if something was
   * lost behind our back, by `nft flush ruleset` or a reload of a firewall; before the first pod nothing is changed.
   */
  async problem(): Promise<string | undefined> {
    if (performance.now() - this.#checkedAtMs < NETWORK_RECHECK_MS) return undefined;
    try {
      const problem = (await this.#bridge.problem(this.#ranges)) ?? (await this.#rules.missing());
      if (problem !== undefined) return problem;
      if (this.#wanted) await this.#mend();
      this.#checkedAtMs = performance.now();
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }

  /** Throws `failed_precondition` if the bridge is another node's. */
  async requireOwnBridge(): Promise<void> {
    const message = await this.#bridge.whyOfAnotherNode();
    if (message !== undefined) throw new PodwrightError('failed_precondition', message);
  }

  /** Removes the rules, and the bridge if it is ours; neither of another node. */
  async remove(): Promise<void> {
    if ((await this.#bridge.whyOfAnotherNode()) !== undefined) return;
    await this.#rules.remove();
    await this.#bridge.remove();
    this.#wanted = false;
    this.#forget();
  }

  async #mend(): Promise<void> {
    const before = await this.index();
    if (await this.hasLost(before)) return void (await this.index());
    await again(() => this.#bridge.ensure(this.#ranges));
    await this.#rules.recheck();
  }

  #forget(): void {
    this.#ensured = undefined;
    this.#checkedAtMs = Number.NEGATIVE_INFINITY;
  }

  async #ensure(): Promise<number> {
    const index = await again(() => this.#bridge.ensure(this.#ranges));
    await this.#connectPorts(index);
    await this.#rules.ensure();
    return index;
  }

  /**
   * Puts the ports of pods in order: of those that lost their bridge, maybe to an earlier process that was killed before it came
   * to this, and of those from a version whose bridge learned.
   */
  async #connectPorts(bridgeIndex: number): Promise<void> {
    const { bridge, links, store } = this.#options;
    const ours = (await links.links()).flatMap((link) => {
      const sandboxId = link.kind === 'veth' ? sandboxOfAlias(bridge, link.alias) : undefined;
      const needsChange = link.master === undefined || (link.master === bridgeIndex && link.learns);
      return sandboxId !== undefined && needsChange ? [{ ...link, sandboxId }] : [];
    });
    if (ours.length === 0) return;
    const held = store.held();
    const changes = ours.flatMap(({ name, index, master, sandboxId }) => [
      ...(master === undefined ? [changeLink(name, { bridgeIndex })] : []),
      changeLink(name, POD_PORT),
      ...(held.get(sandboxId) ?? [])
        .slice(0, 1)
        .map((address) => addForwarding({ linkIndex: index, hardwareAddress: hardwareAddressOf(address) })),
    ]);
    await links.request(changes.map((change) => ({ ...change, ignore: ['ENODEV', 'ENOTSUP'] })));
  }
}
