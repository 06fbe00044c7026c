import { readFile } from 'node:fs/promises';
import { errorMessage, isErrno, type Logger } from '@podwright/base';
import {
  type NetlinkSocket,
  type NftChainSummary,
  readChain,
  readForwardFilters,
  tableMentions,
} from '@podwright/system';
import { bothVersions, filtersForwarding, forwardChain, forwardChainName, type HostRuleset } from './host-ruleset.ts';
import { Iptables, type IptablesVariant } from './iptables.ts';
import type { NetfilterSocket } from './packet-filter.ts';
import type { Subnet } from './subnet.ts';

/** iptables chains of one IP family in nf_tables: FORWARD, and Podwright's own chain, to which FORWARD should jump. */
type ForwardChains = { forward: NftChainSummary | undefined; own: NftChainSummary | undefined };

/** firewalld's table. The policy of its forward chain is accept, but the chain's last rule rejects. */
const FIREWALLD = 'firewalld';

/**
 * Adds rules to iptables' FORWARD chain to accept pod traffic if the host filters forwarded packets at all, for example because Docker has
 * set the chain's policy to drop. Runs no program if the host has no such filters or the rules are already there. Does not touch nftables
 * tables other than those of iptables.
 */
export class ForwardRules {
  readonly #socket: NetfilterSocket;
  readonly #logger: Logger;
  /**
   * The subnets for which this process has created rules. As long as they are unchanged, it is enough to check that the rules exist; their
   * contents need not be compared.
   */
  #madeFor: string | undefined;

  constructor(socket: NetfilterSocket, logger: Logger) {
    this.#socket = socket;
    this.#logger = logger;
  }

  async ensure({ bridge, subnets }: HostRuleset): Promise<void> {
    const current = subnets.map(({ cidr }) => cidr).join(',');
    const isKnown = current === this.#madeFor;
    this.#madeFor = undefined;
    for (const subnet of subnets) {
      const isNeeded = (chains: ForwardChains) => filters(bridge, chains) && !(isKnown && accepts(bridge, chains));
      for (const variant of await this.#variants(bridge, subnet, isNeeded)) await this.#accept(bridge, subnet, variant);
    }
    this.#madeFor = current;
  }

  /**
   * Returns true if neither IP family has a filter table in legacy iptables. Podwright's rules are then in nf_tables, where the caller
   * would notice any change. Returns false if checking the rules requires running a program.
   */
  async intact({ subnets }: HostRuleset): Promise<boolean> {
    const legacy = await Promise.all(subnets.map(hasLegacyFilter));
    return legacy.every((has) => !has);
  }

  /** Removes the FORWARD rules of both IP families, because the configured subnets might have changed since the rules were created. */
  async remove({ bridge }: HostRuleset): Promise<void> {
    this.#madeFor = undefined;
    for (const subnet of bothVersions) {
      for (const variant of await this.#variants(bridge, subnet, ({ own }) => own !== undefined)) {
        const iptables = new Iptables(subnet.family, variant);
        const saved = await iptables.save().catch((error) => this.#unusable(bridge, error));
        if (saved !== undefined) await iptables.remove([forwardChain(bridge, subnet)], saved);
      }
    }
  }

  async #accept(bridge: string, subnet: Subnet, variant: IptablesVariant): Promise<void> {
    const iptables = new Iptables(subnet.family, variant);
    const saved = await iptables.save().catch((error) => this.#unusable(bridge, error));
    if (saved === undefined || !filtersForwarding(bridge, saved)) return;
    await iptables.restore([forwardChain(bridge, subnet)], saved);
  }

  /**
   * Returns the iptables variants to run. nf_tables is included only if `isNeeded` returns true for its chains; the chains of legacy
   * iptables can be read only by running it.
   */
  async #variants(
    bridge: string,
    subnet: Subnet,
    isNeeded: (chains: ForwardChains) => boolean,
  ): Promise<IptablesVariant[]> {
    const chains = await this.#read(bridge, subnet);
    if (chains === undefined) return ['any'];
    const variants: IptablesVariant[] = isNeeded(chains) ? ['nft'] : [];
    return (await hasLegacyFilter(subnet)) ? [...variants, 'legacy'] : variants;
  }

  async #read(bridge: string, { family }: Subnet): Promise<ForwardChains | undefined> {
    const filter = { family: family === 4 ? 'ip' : 'ip6', table: 'filter' } as const;
    return await this.#use(async (socket) => {
      const forward = await readChain(socket, { ...filter, name: 'FORWARD' });
      return { forward, own: await readChain(socket, { ...filter, name: forwardChainName(bridge) }) };
    });
  }

  /**
   * Returns warnings about tables of other programs that might drop pod traffic: those that do not belong to iptables, do not accept
   * everything and do not mention the bridge. Rules in one table cannot accept what another table drops.
   */
  async warnings(bridge: string): Promise<string[]> {
    const filters = await this.#use(async (socket) => {
      const found = await readForwardFilters(socket);
      const suspects = found
        .filter(({ family, table }) => !(table === 'filter' && family !== 'inet'))
        .filter(({ table, drops }) => drops || table === FIREWALLD);
      const mentions = await Promise.all(suspects.map((filter) => tableMentions(socket, filter, bridge)));
      return suspects.filter((_, index) => !mentions[index]);
    });
    return (filters ?? []).map(({ family, table, name }) => {
      const own = `nft insert rule ${family} ${table} ${name} iifname ${bridge} accept, and the same with oifname`;
      const todo =
        table === FIREWALLD ? `firewall-cmd --permanent --zone=trusted --add-interface=${bridge}, then --reload` : own;
      return `the firewall (table ${family} ${table}, chain ${name}) may drop packets of pods: ${todo}`;
    });
  }

  /** Calls `work` with the netfilter socket and returns its result; `undefined` if nf_tables cannot be read. */
  async #use<T>(work: (socket: NetlinkSocket) => Promise<T>): Promise<T | undefined> {
    try {
      return await work(this.#socket());
    } catch (error) {
      this.#logger.debug(
        { error: errorMessage(error) },
        'cannot read nf_tables to see whether the host filters forwarded packets',
      );
      return undefined;
    }
  }

  /** Logs that iptables cannot list its tables. This is only a warning: no rules can be added, but the host might not need any. */
  #unusable(bridge: string, error: unknown): undefined {
    this.#logger.warn(
      { bridge, error: errorMessage(error) },
      'cannot find out whether the host filters forwarded packets: packets of pods may be dropped',
    );
  }
}

/** Whether the FORWARD chain might drop packets, because it does anything besides accepting them and jumping to Podwright's chain. */
const filters = (bridge: string, { forward }: ForwardChains): boolean =>
  forward !== undefined && (forward.drops || forward.rules.some(({ jumpsTo }) => jumpsTo !== forwardChainName(bridge)));

const accepts = (bridge: string, { forward, own }: ForwardChains): boolean =>
  forward?.rules.some(({ jumpsTo }) => jumpsTo === forwardChainName(bridge)) === true &&
  own !== undefined &&
  own.rules.length > 0;

/** Whether the kernel's legacy iptables has a filter table, according to the kernel's list of table names in /proc. */
async function hasLegacyFilter({ family }: Subnet): Promise<boolean> {
  try {
    const names = await readFile(family === 4 ? '/proc/net/ip_tables_names' : '/proc/net/ip6_tables_names', 'utf8');
    return names.split('\n').includes('filter');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
