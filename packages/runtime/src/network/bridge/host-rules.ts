import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, errorMessage, isErrno, Limiter, type Logger, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { findProgram } from '@podwright/host';
import { type NetlinkSocket, type NetlinkSockets, wrapFileError } from '@podwright/system';
import { ForwardRules } from './forward-rules.ts';
import type { HostRuleset } from './host-ruleset.ts';
import { IptablesFilter } from './iptables-filter.ts';
import { NftFilter } from './nft-filter.ts';
import type { NetfilterSocket, PacketFilter } from './packet-filter.ts';
import { type PortRule, type PublishedPorts, portRules } from './port-rules.ts';
import { PublishedPortsStore } from './published-ports.ts';
import { deleteStaleFlows, deleteWithdrawnFlows } from './stale-flows.ts';
import type { Subnet } from './subnet.ts';

export type HostRulesOptions = {
  bridge: string;
  subnets: Subnet[];
  /** Directory for this node's records of the rules. A reboot clears it, along with the rules themselves. */
  stateDir: string;
  logger: Logger;
  sockets: NetlinkSockets;
};

/**
 * The default network's rules in the host's packet filter. They masquerade connections from pods, deny pods access to the host's loopback
 * addresses, forward host ports to pods, and accept pod traffic in iptables' FORWARD chain if that chain filters at all. The rules are in
 * nf_tables, or in iptables if the kernel does not support nf_tables. Calls are serialized.
 */
export class HostRules {
  readonly #bridge: string;
  #subnets: Subnet[];
  readonly #logger: Logger;
  readonly #netfilter: NetfilterSocket;
  readonly #published: PublishedPortsStore;
  readonly #nft: NftFilter;
  readonly #iptables = new IptablesFilter();
  readonly #forward: ForwardRules;
  readonly #turns = new Limiter(1);
  /** A marker file, which exists if this node has set `route_localnet` on the bridge. */
  readonly #allowedLocalhost: string;
  /**
   * The packet filter in use, and the published ports covered by its rules. Undefined until this process has created the rules, and after a
   * failure to change them.
   */
  #made: { filter: PacketFilter; ports: PortRule[] } | undefined;
  #isActive = false;

  constructor({ bridge, subnets, stateDir, logger, sockets }: HostRulesOptions) {
    this.#bridge = bridge;
    this.#subnets = subnets;
    this.#logger = logger;
    let socket: NetlinkSocket | undefined;
    this.#netfilter = () => (socket ??= sockets.open('netfilter'));
    this.#allowedLocalhost = join(stateDir, `localhost-${bridge}`);
    this.#published = new PublishedPortsStore(join(stateDir, 'host-ports'), logger);
    this.#nft = new NftFilter(this.#netfilter);
    this.#forward = new ForwardRules(this.#netfilter, logger);
  }

  /**
   * Replaces all rules, whatever their state. Must be called before this process's first sandbox, after creating the bridge, and at startup
   * if there are sandboxes from before a restart.
   */
  ensure(): Promise<void> {
    return this.#turns.run(() => this.#make());
  }

  /** Restores rules removed by another program. No-op before the first `ensure` or `publish`. Runs no program if nothing has changed. */
  recheck(): Promise<void> {
    return this.#turns.run(async () => {
      if (!this.#isActive) return;
      if (!(await this.#isIntact())) await this.#make();
      this.#allowLocalhost();
    });
  }

  /** Sets the pod subnets that the rules are for. Takes effect at the next `ensure`. */
  setSubnets(subnets: Subnet[]): void {
    this.#subnets = subnets;
    void this.#turns.run(async () => {
      this.#made = undefined;
    });
  }

  /**
   * Publishes a sandbox's host ports, replacing its earlier ones. All or nothing: if this throws, none of the rules are in force. If two
   * sandboxes request the same port, the first one keeps it.
   */
  publish(sandboxId: string, ports: PublishedPorts): Promise<void> {
    return this.#turns.run(async () => {
      if (ports.mappings.every(({ hostPort }) => hostPort <= 0)) return await this.#withdraw(sandboxId);
      await this.#published.set(sandboxId, ports);
      try {
        await this.#update();
        this.#allowLocalhost();
      } catch (error) {
        this.#made = undefined;
        await this.#withdraw(sandboxId).catch((failure) => {
          const fields = { sandbox: sandboxId, error: errorMessage(failure) };
          this.#logger.warn(
            fields,
            'cannot remove the rules of a failed port publication: the next change removes them',
          );
        });
        throw error;
      }
      await this.#deleteStaleFlows(sandboxId);
    });
  }

  /** Removes the sandbox's published ports, if it has any. */
  withdraw(sandboxId: string): Promise<void> {
    return this.#turns.run(() => this.#withdraw(sandboxId));
  }

  async #withdraw(sandboxId: string): Promise<void> {
    if (!(await this.#published.ids()).includes(sandboxId)) return;
    const ports = (await this.#published.requested()).flat().filter((port) => port.sandboxId === sandboxId);
    await this.#published.delete(sandboxId);
    await this.#update();
    await this.#loggingFailure(deleteWithdrawnFlows(this.#netfilter, ports));
  }

  /** Returns the IDs of the sandboxes with published ports, including sandboxes from before a restart. */
  published(): Promise<string[]> {
    return this.#published.ids();
  }

  /** Removes all rules, from either packet filter, and all records. */
  remove(): Promise<void> {
    return this.#turns.run(async () => {
      this.#made = undefined;
      this.#isActive = false;
      this.#forbidLocalhost();
      await this.#nft.remove(this.#ruleset).catch((error) => this.#unusable('nf_tables', error));
      await this.#forward.remove(this.#ruleset);
      await this.#iptables.remove(this.#ruleset).catch((error) => this.#unusable('iptables', error));
      await this.#published.clear();
    });
  }

  /**
   * Returns a user-facing message if no packet filter is usable, as far as can be determined without changing rules; otherwise `undefined`.
   */
  async missing(): Promise<string | undefined> {
    if (findProgram('iptables-restore') !== undefined) return undefined;
    return await this.#nft.probe().then(
      () => undefined,
      (error) =>
        `no packet filter for the pod network: ${errorMessage(error)}, and iptables is not installed; on Debian and Ubuntu: apt install iptables`,
    );
  }

  /** Returns user-facing warnings about the host's own firewall rules that might drop pod traffic. */
  warnings(): Promise<string[]> {
    return this.#forward.warnings(this.#bridge);
  }

  async #isIntact(): Promise<boolean> {
    return (await this.#made?.filter.intact()) === true && (await this.#forward.intact(this.#ruleset));
  }

  /** Recreates all of the default network's rules, regardless of which of them exist. */
  async #make(): Promise<void> {
    if (!this.#isActive)
      for (const warning of await this.warnings()) this.#logger.warn({ bridge: this.#bridge }, warning);
    this.#isActive = true;
    this.#made = undefined;
    await this.#forward.ensure(this.#ruleset);
    const ports = portRules(await this.#published.requested());
    this.#made = { filter: await this.#replace(ports), ports };
    this.#allowLocalhost();
    await this.#deleteStaleFlows();
  }

  /** Updates the rules created by this process to match the currently published ports. */
  async #update(): Promise<void> {
    if (this.#made === undefined) return await this.#make();
    const { filter, ports: before } = this.#made;
    const ports = portRules(await this.#published.requested());
    this.#made = undefined;
    try {
      await filter.change(this.#ruleset, before, ports);
      this.#made = { filter, ports };
    } catch (error) {
      this.#logger.debug(
        { error: errorMessage(error) },
        'cannot change the rules of published ports in place: replacing all rules',
      );
      await this.#make();
    }
  }

  /**
   * Replaces the rules. Falls back to iptables if nf_tables is not supported, but throws if nf_tables fails only temporarily: rules in both
   * packet filters would interfere with each other.
   */
  async #replace(ports: PortRule[]): Promise<PacketFilter> {
    try {
      await this.#nft.replace(this.#ruleset, ports);
      return this.#nft;
    } catch (error) {
      if (['resource_exhausted', 'unavailable'].includes(errorCode(error) ?? '')) throw error;
      this.#unusable('nf_tables', error);
      await this.#iptables.replace(this.#ruleset, ports).catch((cause) => {
        const message = `make the rules of the pod network: ${errorMessage(error)}; ${errorMessage(cause)}`;
        throw new PodwrightError('failed_precondition', message, { cause });
      });
      return this.#iptables;
    }
  }

  /**
   * Sets `route_localnet` on the bridge: without it, the kernel drops packets from the host's loopback addresses to pods, and the replies.
   * Does not affect `::1`, whose packets never leave the loopback interface. Only safe together with the rules that deny pods access to the
   * loopback addresses.
   */
  #allowLocalhost(): void {
    if (!this.#made?.ports.some(({ version }) => version === 4)) return;
    try {
      if (readFileSync(this.#routeLocalnet, 'utf8').trim() === '1') return;
      writeFileSync(this.#allowedLocalhost, '', { mode: PRIVATE_FILE });
      writeFileSync(this.#routeLocalnet, '1');
    } catch (error) {
      // ENOENT: there is no bridge, so there are no pods to reach. `ensure` is called when the bridge has been recreated.
      if (!isErrno(error, 'ENOENT')) throw wrapFileError('allow localhost to reach ports of pods', error);
    }
  }

  /**
   * Clears `route_localnet` before the rules that make it safe are removed: a bridge created by another program stays in place and in use.
   */
  #forbidLocalhost(): void {
    if (!existsSync(this.#allowedLocalhost)) return;
    try {
      writeFileSync(this.#routeLocalnet, '0');
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw wrapFileError('block pods from localhost again', error);
    }
    rmSync(this.#allowedLocalhost);
  }

  get #routeLocalnet(): string {
    return `/proc/sys/net/ipv4/conf/${this.#bridge}/route_localnet`;
  }

  /** Deletes stale conntrack flows to the published ports of one sandbox, or of all sandboxes. */
  async #deleteStaleFlows(sandboxId?: string): Promise<void> {
    const ports = this.#made?.ports.filter((port) => sandboxId === undefined || port.sandboxId === sandboxId) ?? [];
    await this.#loggingFailure(deleteStaleFlows(this.#netfilter, ports));
  }

  async #loggingFailure(deletion: Promise<void>): Promise<void> {
    await deletion.catch((error) => {
      const message =
        'cannot delete old UDP flows: for some minutes they may reach the previous pod of a published port';
      this.#logger.warn({ error: errorMessage(error) }, message);
    });
  }

  #unusable(filter: string, error: unknown): void {
    this.#logger.debug({ filter, error: errorMessage(error) }, 'packet filter cannot be used');
  }

  get #ruleset(): HostRuleset {
    return { bridge: this.#bridge, subnets: this.#subnets };
  }
}
