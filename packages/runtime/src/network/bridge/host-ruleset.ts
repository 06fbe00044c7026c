import type { Subnet } from './subnet.ts';

/** What the default network needs of the host's packet filter. Everything is named after the bridge. */
export type HostRuleset = { bridge: string; subnets: Subnet[] };

/** A prefix of at most 13 characters and a name of at most 15: iptables takes 28. */
export const chainName = (bridge: string, hook: IptablesChain['hook']): string =>
  `${hook === 'INPUT' ? 'PODWRIGHT-IN-' : 'PODWRIGHT-'}${bridge}`;
export const tableName = (bridge: string): string => `podwright_${bridge}`;

const multicast = { 4: '224.0.0.0/4', 6: 'ff00::/8' } as const;

/**
 * The addresses that a pod must not reach on the host. `portmap` sets `route_localnet` on the bridge, so that
 * `localhost:hostPort` works; from then on the kernel takes packets to them from pods, too (CVE-2020-8558). The answers of
 * a pod to a client on localhost are told apart by their connection, whose destination was translated; what belongs to no
 * connection is dropped as well. `::1` needs no rule: the kernel takes it from the loopback interface only (RFC 4291,
 * section 2.5.3).
 */
const LOOPBACK = '127.0.0.0/8';

/** One transaction for `nft -f -` that makes our table what it should be, whatever was in it before. */
export function nftRuleset({ bridge, subnets }: HostRuleset): string {
  const table = `inet ${tableName(bridge)}`;
  const rules = subnets.map(({ cidr, family }) => {
    const ip = family === 4 ? 'ip' : 'ip6';
    return `    ${ip} saddr ${cidr} ${ip} daddr != { ${cidr}, ${multicast[family]} } masquerade`;
  });
  return `${nftRemoval(bridge)}table ${table} {
  chain postrouting {
    type nat hook postrouting priority 100; policy accept;
${rules.join('\n')}
  }
  chain input {
    type filter hook input priority 0; policy accept;
    iifname "${bridge}" ip daddr ${LOOPBACK} ct status dnat accept
    iifname "${bridge}" ip daddr ${LOOPBACK} drop
  }
}
`;
}

/** Adding a table that is there is no error, deleting one that is not would be. */
export function nftRemoval(bridge: string): string {
  const table = `inet ${tableName(bridge)}`;
  return `add table ${table}\ndelete table ${table}\n`;
}

/** A chain of ours in an iptables table, and the built-in chain that jumps to it. */
export type IptablesChain = { table: 'nat' | 'filter'; hook: 'POSTROUTING' | 'FORWARD' | 'INPUT'; rules: string[] };

export function masqueradeChain({ cidr, family }: Subnet): IptablesChain {
  const rules = [`-d ${cidr} -j RETURN`, `-d ${multicast[family]} -j RETURN`, `-s ${cidr} -j MASQUERADE`];
  return { table: 'nat', hook: 'POSTROUTING', rules };
}

export function forwardChain({ cidr }: Subnet): IptablesChain {
  return { table: 'filter', hook: 'FORWARD', rules: [`-s ${cidr} -j ACCEPT`, `-d ${cidr} -j ACCEPT`] };
}

/** Nothing for IPv6, whose loopback address the kernel itself keeps from pods. */
export function inputChain(bridge: string): IptablesChain {
  const rule = `-i ${bridge} -d ${LOOPBACK} -m conntrack ! --ctstate DNAT -j DROP`;
  return { table: 'filter', hook: 'INPUT', rules: [rule] };
}

/**
 * Input of `iptables-restore --noflush` that makes our chain what it should be, given what `iptables-save` says of the
 * table: naming a chain empties it, and the jump is put first unless it is there.
 */
export function restoreInput(bridge: string, chain: IptablesChain, saved: string): string {
  const name = chainName(bridge, chain.hook);
  const jump = `${chain.hook} -j ${name}`;
  const lines = [`*${chain.table}`, `:${name} - [0:0]`, ...chain.rules.map((rule) => `-A ${name} ${rule}`)];
  if (!hasLine(saved, `-A ${jump}`)) lines.push(`-I ${jump}`);
  return `${lines.join('\n')}\nCOMMIT\n`;
}

/** Input of `iptables-restore --noflush` that removes our chain, or undefined if it is not there. */
export function removalInput(bridge: string, { table, hook }: IptablesChain, saved: string): string | undefined {
  const name = chainName(bridge, hook);
  if (!new RegExp(`^:${name.replaceAll('.', '\\.')} `, 'm').test(saved)) return undefined;
  const jump = hasLine(saved, `-A ${hook} -j ${name}`) ? `-D ${hook} -j ${name}\n` : '';
  return `*${table}\n${jump}-F ${name}\n-X ${name}\nCOMMIT\n`;
}

/** Whether the host filters what it forwards at all: otherwise it gets no rules from us. */
export function filtersForwarding(bridge: string, saved: string): boolean {
  const policyAccepts = !/^:FORWARD (?!ACCEPT)/m.test(saved);
  const rules = saved.split('\n').filter((line) => line.startsWith('-A FORWARD '));
  const foreign = rules.filter((line) => line !== `-A FORWARD -j ${chainName(bridge, 'FORWARD')}`);
  return !policyAccepts || foreign.length > 0;
}

const hasLine = (text: string, line: string): boolean => text.split('\n').some((found) => found.trim() === line);
