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

/** The chains of one IP version that iptables has in nf_tables: FORWARD, and ours that it should jump to. */
type ForwardChains = { forward: NftChainSummary | undefined; own: NftChainSummary | undefined };

/** The table of firewalld, which lets through by its policy and rejects by its last rule. */
const FIREWALLD = 'firewalld';

/**
 * Accepts what pods send and get in iptables' FORWARD chain, where the host filters there at all: Docker makes it drop. No
 * program is started on a host that filters nothing, or where our rules are there. Tables of nftables that are not those of
 * iptables are not ours to edit.
 */
export class ForwardRules {
  readonly #socket: NetfilterSocket;
  readonly #logger: Logger;
  /** The subnets that rules of this process are for, so that those that are there can be believed. */
  #madeFor: string | undefined;

  constructor(socket: NetfilterSocket, logger: Logger) {
    this.#socket = socket;
    this.#logger = logger;
  }

  async ensure({ bridge, subnets }: HostRuleset): Promise<void> {
    const wanted = subnets.map(({ cidr }) => cidr).join(',');
    const known = wanted === this.#madeFor;
    this.#madeFor = undefined;
    for (const subnet of subnets) {
      const isNeeded = (chains: ForwardChains) => filters(bridge, chains) && !(known && accepts(bridge, chains));
      for (const variant of await this.#variants(bridge, subnet, isNeeded)) await this.#accept(bridge, subnet, variant);
    }
    this.#madeFor = wanted;
  }

  /** Whether it can be told without a program that nothing is missing, while nobody has changed anything in nf_tables. */
  async intact({ subnets }: HostRuleset): Promise<boolean> {
    const legacy = await Promise.all(subnets.map(hasLegacyFilter));
    return legacy.every((has) => !has);
  }

  /** Of both IP versions, as the subnets may have been others. */
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

  /** The kinds of iptables whose tables have to be looked at by their own programs. */
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
    const place = { family: family === 4 ? 'ip' : 'ip6', table: 'filter' } as const;
    return await this.#use(async (socket) => {
      const forward = await readChain(socket, { ...place, name: 'FORWARD' });
      return { forward, own: await readChain(socket, { ...place, name: forwardChainName(bridge) }) };
    });
  }

  /**
   * What of others may drop packets of pods, for people: tables that are not those of iptables, do not let everything through,
   * and do not know the bridge. No rule of ours can accept what another table drops.
   */
  async warnings(bridge: string): Promise<string[]> {
    const filters = await this.#use(async (socket) => {
      const found = await readForwardFilters(socket);
      const suspects = found
        .filter(({ family, table }) => !(table === 'filter' && family !== 'inet'))
        .filter(({ table, drops }) => drops || table === FIREWALLD);
      const known = await Promise.all(suspects.map((filter) => tableMentions(socket, filter, bridge)));
      return suspects.filter((_, index) => !known[index]);
    });
    return (filters ?? []).map(({ family, table, name }) => {
      const own = `nft insert rule ${family} ${table} ${name} iifname ${bridge} accept, and the same with oifname`;
      const todo =
        table === FIREWALLD ? `firewall-cmd --permanent --zone=trusted --add-interface=${bridge}, then --reload` : own;
      return `the firewall (table ${family} ${table}, chain ${name}) may drop what pods send and get: ${todo}`;
    });
  }

  /** Undefined where nf_tables cannot be asked. */
  async #use<T>(work: (socket: NetlinkSocket) => Promise<T>): Promise<T | undefined> {
    try {
      return await work(this.#socket());
    } catch (error) {
      this.#logger.debug({ error: errorMessage(error) }, 'nf_tables cannot be asked whether the host filters');
      return undefined;
    }
  }

  /** Where iptables cannot even list its tables nothing can be done, and perhaps nothing need be. */
  #unusable(bridge: string, error: unknown): undefined {
    this.#logger.warn(
      { bridge, error: errorMessage(error) },
      'cannot look whether the host filters what it forwards: packets of pods may be dropped',
    );
  }
}

/** Whether a chain does anything but accept, and but jump to ours. */
const filters = (bridge: string, { forward }: ForwardChains): boolean =>
  forward !== undefined && (forward.drops || forward.rules.some(({ jumpsTo }) => jumpsTo !== forwardChainName(bridge)));

const accepts = (bridge: string, { forward, own }: ForwardChains): boolean =>
  forward?.rules.some(({ jumpsTo }) => jumpsTo === forwardChainName(bridge)) === true &&
  own !== undefined &&
  own.rules.length > 0;

/** The older packet filter of the kernel, which says in a file which tables it has. */
async function hasLegacyFilter({ family }: Subnet): Promise<boolean> {
  try {
    const names = await readFile(family === 4 ? '/proc/net/ip_tables_names' : '/proc/net/ip6_tables_names', 'utf8');
    return names.split('\n').includes('filter');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
