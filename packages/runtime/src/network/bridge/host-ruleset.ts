import type { PortRule } from './port-rules.ts';
import type { Subnet } from './subnet.ts';

/** Input for the default network's packet filter rules. All tables and chains are named after the bridge. */
export type HostRuleset = { bridge: string; subnets: Subnet[] };

/** Placeholder subnets of both IP families for removing rules: chains are removed by name, regardless of their subnet. */
export const bothVersions: Subnet[] = [
  { family: 4, cidr: '0.0.0.0/0' },
  { family: 6, cidr: '::/0' },
];

export const tableName = (bridge: string): string => `podwright_${bridge}`;

export const MULTICAST = { 4: '224.0.0.0/4', 6: 'ff00::/8' } as const;

/**
 * Host addresses that pods must not reach. `route_localnet` on the bridge makes `localhost:hostPort` work, but also makes the kernel accept
 * packets from pods to these addresses (CVE-2020-8558). The rules drop such packets unless conntrack shows that the connection's
 * destination was translated, as for a pod's replies to a client on localhost. With `route_localnet`, the kernel also accepts packets from
 * pods with one of these addresses as the source, except 127.0.0.1, so the rules drop those too; replies are unaffected, because at the
 * input hook their source has not been translated back yet. `::1` needs no rule: the kernel accepts it only from the loopback interface
 * (RFC 4291, section 2.5.3).
 */
export const LOOPBACK = '127.0.0.0/8';

/**
 * The IPv6 loopback address, for which host ports are not forwarded: a client connecting to `::1` also has `::1` as its source address, and
 * such packets cannot leave the host. A refused connection is better than a timeout.
 */
export const LOOPBACK_IPV6 = '::1/128';

/** One of Podwright's chains in an iptables table, and the built-in chains that jump to it. */
export type IptablesChain = { table: 'nat' | 'filter'; name: string; hooks: string[]; rules: string[] };

/** iptables limits chain names to 28 characters: a prefix of at most 13 and a bridge name of at most 15. */
const chainName = (bridge: string, what: '' | 'IN-' | 'PR-' | 'DN-' = ''): string => `PODWRIGHT-${what}${bridge}`;

export const forwardChainName = (bridge: string): string => chainName(bridge);

/** Returns the chain that accepts packets from and to pods, for hosts that filter forwarded packets. */
export function forwardChain(bridge: string, { cidr }: Subnet): IptablesChain {
  const rules = [`-s ${cidr} -j ACCEPT`, `-d ${cidr} -j ACCEPT`];
  return { table: 'filter', name: forwardChainName(bridge), hooks: ['FORWARD'], rules };
}

/** Returns the iptables equivalent of the nf_tables table. No chain protects `::1`, because the kernel does. */
export function iptablesChains(bridge: string, subnet: Subnet, ports: PortRule[]): IptablesChain[] {
  const own = ports.filter(({ version }) => version === subnet.family);
  const chains: IptablesChain[] = [
    { table: 'nat', name: chainName(bridge), hooks: ['POSTROUTING'], rules: masqueradeRules(bridge, subnet, own) },
    { table: 'nat', name: chainName(bridge, 'DN-'), hooks: ['OUTPUT'], rules: hostPortRules(subnet, own) },
    { table: 'nat', name: chainName(bridge, 'PR-'), hooks: ['PREROUTING'], rules: fromOthers(bridge, subnet) },
  ];
  const input = [
    `-i ${bridge} -s ${LOOPBACK} -j DROP`,
    `-i ${bridge} -d ${LOOPBACK} -m conntrack ! --ctstate DNAT -j DROP`,
  ];
  if (subnet.family === 4)
    chains.push({ table: 'filter', name: chainName(bridge, 'IN-'), hooks: ['INPUT'], rules: input });
  return chains;
}

/**
 * Returns the rules that masquerade connections to the outside, connections from localhost, and connections from the pods' own subnet
 * through a host port, whose replies have to return through the host.
 */
function masqueradeRules(bridge: string, { cidr, family }: Subnet, ports: PortRule[]): string[] {
  const pods = [...new Set(ports.map(({ ip }) => ip))];
  return [
    ...pods.map((ip) => `-s ${cidr} -d ${ip} -m conntrack --ctstate DNAT -j MASQUERADE`),
    ...(family === 4 ? [`-s ${LOOPBACK} -o ${bridge} -j MASQUERADE`] : []),
    `-d ${cidr} -j RETURN`,
    `-d ${MULTICAST[family]} -j RETURN`,
    `-s ${cidr} -j MASQUERADE`,
  ];
}

/** Returns the rules that forward host ports. Rules for ports on a single host address come before those for ports on all addresses. */
function hostPortRules({ family }: Subnet, ports: PortRule[]): string[] {
  const ofOne = ports.filter(({ hostIp }) => hostIp !== undefined);
  const ofEvery = ports.filter(({ hostIp }) => hostIp === undefined);
  const rules = [...ofOne, ...ofEvery].map((port) => {
    const at = port.hostIp === undefined ? '' : ` -d ${port.hostIp}`;
    const pod = port.version === 4 ? port.ip : `[${port.ip}]`;
    const comment = `-m comment --comment "${port.sandboxId}"`;
    return `-p ${port.protocol}${at} --dport ${port.hostPort} ${comment} -j DNAT --to-destination ${pod}:${port.containerPort}`;
  });
  const loopback = family === 6 ? [`-d ${LOOPBACK_IPV6} -j RETURN`] : [];
  return [...loopback, '-m addrtype ! --dst-type LOCAL -j RETURN', ...rules];
}

/**
 * Rules for packets entering the host. The rules skip ports published on the host's loopback addresses, which only the host itself may use:
 * its own packets go through OUTPUT.
 */
const fromOthers = (bridge: string, { family }: Subnet): string[] => [
  ...(family === 4 ? [`-d ${LOOPBACK} -j RETURN`] : []),
  `-j ${chainName(bridge, 'DN-')}`,
];

/**
 * Builds the input for `iptables-restore --noflush` that replaces the chains: declaring a chain empties it, and each table is one
 * transaction. Jumps missing from `saved`, the output of `iptables-save`, are inserted at the top of the built-in chains.
 */
export function restoreInput(chains: IptablesChain[], saved: string): string {
  return tablesOf(chains).map(restoreTable).join('');

  function restoreTable(table: IptablesChain['table']): string {
    const own = chains.filter((chain) => chain.table === table);
    const names = own.map(({ name }) => `:${name} - [0:0]`);
    const rules = own.flatMap(({ name, rules }) => rules.map((rule) => `-A ${name} ${rule}`));
    const missing = own.flatMap(({ name, hooks }) =>
      hooks.map((hook) => `${hook} -j ${name}`).filter((jump) => !section(saved, table).includes(`-A ${jump}`)),
    );
    return `${[`*${table}`, ...names, ...rules, ...missing.map((jump) => `-I ${jump}`), 'COMMIT'].join('\n')}\n`;
  }
}

/** Builds the input for `iptables-restore --noflush` that removes whichever of the chains exist; '' if none do. */
export function removalInput(chains: IptablesChain[], saved: string): string {
  return tablesOf(chains).map(removeFrom).join('');

  function removeFrom(table: IptablesChain['table']): string {
    const lines = section(saved, table);
    const own = chains.filter(
      (chain) => chain.table === table && lines.some((line) => line.startsWith(`:${chain.name} `)),
    );
    if (own.length === 0) return '';
    const jumps = own.flatMap(({ name, hooks }) =>
      hooks.map((hook) => `${hook} -j ${name}`).filter((jump) => lines.includes(`-A ${jump}`)),
    );
    const names = own.map(({ name }) => name);
    const emptied = [...jumps.map((jump) => `-D ${jump}`), ...names.map((name) => `-F ${name}`)];
    return `${[`*${table}`, ...emptied, ...names.map((name) => `-X ${name}`), 'COMMIT'].join('\n')}\n`;
  }
}

/** Whether the host filters forwarded packets at all. If it does not, no forward rules are needed. */
export function filtersForwarding(bridge: string, saved: string): boolean {
  const lines = section(saved, 'filter');
  const policyAccepts = !lines.some((line) => /^:FORWARD (?!ACCEPT)/.test(line));
  const own = `-A FORWARD -j ${forwardChainName(bridge)}`;
  return !policyAccepts || lines.some((line) => line.startsWith('-A FORWARD ') && line !== own);
}

const tablesOf = (chains: IptablesChain[]) => [...new Set(chains.map(({ table }) => table))];

/** Returns one table's lines from the output of `iptables-save`. */
function section(saved: string, table: string): string[] {
  const lines = saved.split('\n').map((line) => line.trim());
  const start = lines.indexOf(`*${table}`);
  return start < 0 ? [] : lines.slice(start, lines.indexOf('COMMIT', start));
}
