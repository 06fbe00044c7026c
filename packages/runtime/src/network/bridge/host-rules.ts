import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  errorCode,
  errorMessage,
  findProgram,
  isErrno,
  Limiter,
  type Logger,
  PodwrightError,
  PRIVATE_FILE,
} from '@podwright/base';
import { type NetlinkSocket, type NetlinkSockets, wrapFileError } from '@podwright/system';
import { ForwardRules } from './forward-rules.ts';
import type { HostRuleset } from './host-ruleset.ts';
import { IptablesFilter } from './iptables-filter.ts';
import { NftFilter } from './nft-filter.ts';
import type { NetfilterSocket, PacketFilter } from './packet-filter.ts';
import { type PortRule, type PublishedPorts, portRules } from './port-rules.ts';
import { PublishedPortsStore } from './published-ports.ts';
import { forgetStaleFlows, forgetWithdrawnFlows } from './stale-flows.ts';
import type { Subnet } from './subnet.ts';

export type HostRulesOptions = {
  bridge: string;
  subnets: Subnet[];
  /** Lost at a reboot, as the rules are. */
  stateDir: string;
  logger: Logger;
  sockets: NetlinkSockets;
};

/**
 * The default network's rules in the host's packet filter: its subnets are masqueraded and kept from the host's loopback
 * addresses, ports of the host lead to pods, and iptables' FORWARD chain accepts pods where it filters at all. By nf_tables,
 * or by iptables where the kernel refuses that. One call is done after the other.
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
  /** There once we have let packets of localhost out to pods. */
  readonly #allowedLocalhost: string;
  /** How the rules were made by this process, and for which ports; undefined before, and after a failure. */
  #made: { filter: PacketFilter; ports: PortRule[] } | undefined;
  #wanted = false;

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
   * Makes all rules what they should be, whatever was there: to be called before the first sandbox of a process, after the
   * bridge was made, and at a start with sandboxes from before.
   */
  ensure(): Promise<void> {
    return this.#turns.run(() => this.#make());
  }

  /** Puts back what somebody else removed; does nothing before `ensure` or `publish`. Starts no program while nobody did. */
  recheck(): Promise<void> {
    return this.#turns.run(async () => {
      if (!this.#wanted) return;
      if (!(await this.#isIntact())) await this.#make();
      this.#allowLocalhost();
    });
  }

  /** Rules from now on are for other subnets; `ensure` makes them. */
  setSubnets(subnets: Subnet[]): void {
    this.#subnets = subnets;
    void this.#turns.run(async () => {
      this.#made = undefined;
    });
  }

  /**
   * Makes ports of the host lead to a sandbox; what it had published before is replaced. It is all there when this returns, or,
   * if this throws, nothing. Of two sandboxes that want the same port the first keeps it.
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
          this.#logger.warn(fields, 'rules of ports that could not be published are removed with the next ones');
        });
        throw error;
      }
      await this.#forgetStaleFlows(sandboxId);
    });
  }

  /** No port leads to the sandbox any more. No error for one that has none. */
  withdraw(sandboxId: string): Promise<void> {
    return this.#turns.run(() => this.#withdraw(sandboxId));
  }

  async #withdraw(sandboxId: string): Promise<void> {
    if (!(await this.#published.ids()).includes(sandboxId)) return;
    const ports = (await this.#published.wanted()).flat().filter((port) => port.sandboxId === sandboxId);
    await this.#published.delete(sandboxId);
    await this.#update();
    await this.#loggingFailure(forgetWithdrawnFlows(this.#netfilter, ports));
  }

  /** Ids of sandboxes with published ports, also of those of an earlier process. */
  published(): Promise<string[]> {
    return this.#published.ids();
  }

  /** Removes every rule and record, however they were made. */
  remove(): Promise<void> {
    return this.#turns.run(async () => {
      this.#made = undefined;
      this.#wanted = false;
      this.#forbidLocalhost();
      await this.#nft.remove(this.#ruleset).catch((error) => this.#unusable('nf_tables', error));
      await this.#forward.remove(this.#ruleset);
      await this.#iptables.remove(this.#ruleset).catch((error) => this.#unusable('iptables', error));
      await this.#published.clear();
    });
  }

  /** Why no packet filter can be used, for people; undefined if one can, as far as that is known without changing it. */
  async missing(): Promise<string | undefined> {
    if (findProgram('iptables-restore') !== undefined) return undefined;
    return await this.#nft.probe().then(
      () => undefined,
      (error) =>
        `no packet filter for the pod network: ${errorMessage(error)}, and iptables is not installed; on Debian and Ubuntu: apt install iptables`,
    );
  }

  /** What of the host's own firewall may be in the way of pods, for people. */
  warnings(): Promise<string[]> {
    return this.#forward.warnings(this.#bridge);
  }

  async #isIntact(): Promise<boolean> {
    return (await this.#made?.filter.intact()) === true && (await this.#forward.intact(this.#ruleset));
  }

  /** From whatever is there to what should be. */
  async #make(): Promise<void> {
    if (!this.#wanted)
      for (const warning of await this.warnings()) this.#logger.warn({ bridge: this.#bridge }, warning);
    this.#wanted = true;
    this.#made = undefined;
    await this.#forward.ensure(this.#ruleset);
    const ports = portRules(await this.#published.wanted());
    this.#made = { filter: await this.#replace(ports), ports };
    this.#allowLocalhost();
    await this.#forgetStaleFlows();
  }

  /** From the rules that this process made to those for the ports that are published now. */
  async #update(): Promise<void> {
    if (this.#made === undefined) return await this.#make();
    const { filter, ports: before } = this.#made;
    const ports = portRules(await this.#published.wanted());
    this.#made = undefined;
    try {
      await filter.change(this.#ruleset, before, ports);
      this.#made = { filter, ports };
    } catch (error) {
      this.#logger.debug({ error: errorMessage(error) }, 'rules of published ports are made anew');
      await this.#make();
    }
  }

  /** The kernel that was only short of something is asked again next time: rules of two kinds would be in each other's way. */
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
   * Lets packets from the host's loopback addresses out to pods (and their answers in), which the kernel drops by default;
   * `::1` never leaves the loopback interface. Only with the rules that keep pods from these addresses.
   */
  #allowLocalhost(): void {
    if (!this.#made?.ports.some(({ version }) => version === 4)) return;
    try {
      if (readFileSync(this.#routeLocalnet, 'utf8').trim() === '1') return;
      writeFileSync(this.#allowedLocalhost, '', { mode: PRIVATE_FILE });
      writeFileSync(this.#routeLocalnet, '1');
    } catch (error) {
      // Without the bridge there is nobody to reach; who makes it again calls `ensure`.
      if (!isErrno(error, 'ENOENT')) throw wrapFileError('let localhost reach ports of pods', error);
    }
  }

  /** Before the rules go: a bridge that somebody else made stays, and others are at it. */
  #forbidLocalhost(): void {
    if (!existsSync(this.#allowedLocalhost)) return;
    try {
      writeFileSync(this.#routeLocalnet, '0');
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw wrapFileError('keep pods from localhost again', error);
    }
    rmSync(this.#allowedLocalhost);
  }

  get #routeLocalnet(): string {
    return `/proc/sys/net/ipv4/conf/${this.#bridge}/route_localnet`;
  }

  /** Of one sandbox's ports, or of all. */
  async #forgetStaleFlows(sandboxId?: string): Promise<void> {
    const ports = this.#made?.ports.filter((port) => sandboxId === undefined || port.sandboxId === sandboxId) ?? [];
    await this.#loggingFailure(forgetStaleFlows(this.#netfilter, ports));
  }

  async #loggingFailure(forgetting: Promise<void>): Promise<void> {
    await forgetting.catch((error) => {
      const message = 'UDP flows from before a published port changed may go where it led then for some minutes';
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
