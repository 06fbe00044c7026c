import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  errorMessage,
  type Logger,
  makePrivateDirectory,
  PodwrightError,
  runChecked,
  withTimeout,
} from '@podwright/base';
import type { NetworkList } from '@podwright/cni';
import { NetlinkSockets } from '@podwright/system';
import { NETWORK_PROGRAM_TIMEOUT_MS, NETWORK_RECHECK_MS } from '../../time-limits.ts';
import { AddressStore } from './address-store.ts';
import { type DefaultNetwork, defaultNetworkList, defaultNetworkName } from './default-network.ts';
import { HostRules } from './host-rules.ts';
import type { Subnet } from './subnet.ts';

/** The default network's things on the host: the bridge, the rules for its subnets and the addresses given out. */
export class DefaultBridge {
  readonly #bridge: string;
  readonly #stateDir: string;
  readonly #hostRules: HostRules;
  #subnets: Subnet[];
  #rules: { ensured: Promise<void>; atMs: number } | undefined;
  #bridgeSeen = false;

  constructor(options: { bridge: string; subnets: Subnet[]; stateDir: string; logger: Logger }) {
    this.#bridge = options.bridge;
    this.#subnets = options.subnets;
    this.#stateDir = options.stateDir;
    this.#hostRules = new HostRules({ ...options, sockets: new NetlinkSockets() });
  }

  get bridge(): string {
    return this.#bridge;
  }

  get subnets(): Subnet[] {
    return this.#subnets;
  }

  list(wanted: { portMappings: boolean; bandwidth: boolean }): NetworkList {
    return defaultNetworkList(this.#network, wanted);
  }

  /** Ids of the sandboxes that hold an address of this network. */
  holders(): Promise<Set<string>> {
    return this.#addresses.holders();
  }

  /** Pods from now on get addresses of other subnets. */
  setSubnets(subnets: Subnet[]): void {
    this.#subnets = subnets;
    this.#hostRules.setSubnets(subnets);
    this.#rules = undefined;
  }

  /** Why the rules cannot be made on this host, for people; undefined if they can. */
  missingFilter(): Promise<string | undefined> {
    return this.#hostRules.missing();
  }

  /**
   * Before a plugin makes the bridge: remembers that it will be ours to remove. A bridge that somebody else made is used but
   * never removed. Notices also that the bridge has vanished, so that the rules are made again.
   */
  async claim(): Promise<void> {
    if (await exists(this.#link)) {
      this.#bridgeSeen = true;
      return;
    }
    if (this.#bridgeSeen) this.#rules = undefined;
    this.#bridgeSeen = false;
    makePrivateDirectory(this.#stateDir);
    await writeFile(this.#marker, '');
  }

  /** Makes the rules, once a process unless something vanished; calls meanwhile wait for the same work. */
  ensureRules(): Promise<void> {
    if (this.#rules !== undefined) return this.#rules.ensured;
    const ensured = this.#hostRules.ensure();
    const rules = { ensured, atMs: Date.now() };
    this.#rules = rules;
    ensured.catch(() => {
      if (this.#rules === rules) this.#rules = undefined; // the next pod tries again
    });
    return ensured;
  }

  /** Puts back rules that somebody else removed, if it is long ago that somebody looked. */
  async recheckRules(): Promise<void> {
    if (this.#rules === undefined || Date.now() - this.#rules.atMs < NETWORK_RECHECK_MS) return;
    this.#rules.atMs = Date.now();
    await this.#hostRules.recheck();
  }

  /** Removes the rules, the bridge if it is ours, and the addresses' files. */
  async remove(): Promise<void> {
    await this.#hostRules.remove();
    if ((await exists(this.#marker)) && (await exists(this.#link))) await this.#removeLink();
    await rm(this.#network.addressDirectory, { recursive: true, force: true });
    await rm(this.#marker, { force: true });
    this.#rules = undefined;
    this.#bridgeSeen = false;
  }

  async #removeLink(): Promise<void> {
    using signal = withTimeout(undefined, NETWORK_PROGRAM_TIMEOUT_MS, `remove the bridge ${this.#bridge}`);
    try {
      await runChecked('ip', ['link', 'delete', this.#bridge, 'type', 'bridge'], { signal });
    } catch (error) {
      const hint = `install iproute2, or remove it by hand: ip link delete ${this.#bridge}`;
      const message = `remove the bridge ${this.#bridge}: ${errorMessage(error)}; ${hint}`;
      throw new PodwrightError('internal', message, { cause: error });
    }
  }

  get #network(): DefaultNetwork {
    return { bridge: this.#bridge, subnets: this.#subnets, addressDirectory: join(this.#stateDir, 'addresses') };
  }

  get #addresses(): AddressStore {
    return new AddressStore(this.#network.addressDirectory, defaultNetworkName(this.#bridge));
  }

  get #link(): string {
    return join('/sys/class/net', this.#bridge);
  }

  get #marker(): string {
    return join(this.#stateDir, `made-${this.#bridge}`);
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
