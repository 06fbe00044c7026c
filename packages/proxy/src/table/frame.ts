import {
  addressWords,
  applyVerdict,
  destinationTranslated,
  fromThisHost,
  goTo,
  type IpVersion,
  inPrefix,
  isInSet,
  jump,
  loadAddress,
  loadDestinationPort,
  loadOriginalDestination,
  loadOriginalPort,
  loadProtocol,
  masqueradeRandomly,
  type NftChain,
  type NftExpression,
  type NftRule,
  ofNewConnection,
  ofVersion,
  refuse,
  refuseTcp,
  verdict,
} from '@podwright/system';
import { ofFamily } from '../services/node-facts.ts';
import { CHAINS, setNames } from './names.ts';

/** Hook priorities (linux/netfilter_ipv4.h): NF_IP_PRI_NAT_DST, NF_IP_PRI_NAT_SRC, NF_IP_PRI_FILTER. */
const PRIORITY = { dstnat: -100, srcnat: 100, filter: 0 } as const;
export const VERSIONS: readonly IpVersion[] = [4, 6];

/** Settings for the chains that do not depend on services. */
export type FrameSettings = {
  /** Pod addresses; empty if unknown. */
  podCidrs: string[];
  /**
   * Subnets whose pods reach each other over a bridge, bypassing the host's packet filter. Connections to services within such a subnet are
   * masqueraded, because the replies would otherwise bypass the host. Empty if the kernel filters bridged packets.
   */
  bridgedCidrs: readonly string[];
};

/**
 * Returns the expressions that load the packet's destination as `address . protocol . port` into consecutive 32-bit registers, starting at
 * the first.
 */
export function loadFrontend(version: IpVersion): NftExpression[] {
  const words = addressWords(version);
  return [loadAddress('daddr', version, 0), loadProtocol(words), loadDestinationPort(words + 1)];
}

/** Returns the chains that do not depend on services. Chains at hooks come last, because they jump to the others. */
export function frameChains({ podCidrs, bridgedCidrs }: FrameSettings): NftChain[] {
  return [
    { name: CHAINS.refuse, rules: [{ expressions: refuseTcp() }, { expressions: refuse() }] },
    { name: CHAINS.masquerade, rules: [masqueradeRule([])] },
    { name: CHAINS.masqueradeHost, rules: [masqueradeRule(fromThisHost())] },
    ...VERSIONS.map((version) => strangersChain(version, ofFamily(podCidrs, version))),
    { name: CHAINS.services, rules: VERSIONS.map(dispatchRule) },
    { name: CHAINS.clusterIps, rules: VERSIONS.flatMap(clusterIpRules) },
    natChain('prerouting', PRIORITY.dstnat, [{ expressions: jump(CHAINS.services) }]),
    natChain('output', PRIORITY.dstnat, [{ expressions: jump(CHAINS.services) }]),
    natChain(
      'postrouting',
      PRIORITY.srcnat,
      VERSIONS.flatMap((version) => postroutingRules(version, bridgedCidrs)),
    ),
    ...(['forward', 'output'] as const).map(filterChain),
  ];
}

/** Sends a new connection to its frontend's chain. Only the first packet of a connection passes the nat hooks. */
const dispatchRule = (version: IpVersion): NftRule => ({
  expressions: [...ofVersion(version), ...loadFrontend(version), applyVerdict(setNames(version).services, 0)],
});

/**
 * Returns the rules that decide whether to masquerade a translated connection. They look up its original destination, because a packet mark
 * could collide with another program's.
 */
function postroutingRules(version: IpVersion, bridgedCidrs: readonly string[]): NftRule[] {
  const words = addressWords(version);
  const names = setNames(version);
  const translated = [...destinationTranslated(), ...ofVersion(version)];
  const original = [
    loadOriginalDestination(version, 0),
    loadProtocol(words),
    loadOriginalPort(words + 1),
    applyVerdict(names.masquerade, 0),
  ];
  const toItself = [
    loadAddress('saddr', version, 0),
    loadAddress('daddr', version, words),
    loadProtocol(2 * words),
    loadDestinationPort(2 * words + 1),
    isInSet(names.hairpin, 0),
  ];
  const bridged = ofFamily(bridgedCidrs, version).map((cidr) =>
    masqueradeRule([...translated, ...inPrefix('saddr', cidr), ...inPrefix('daddr', cidr)]),
  );
  return [masqueradeRule([...translated, ...toItself]), ...bridged, { expressions: [...translated, ...original] }];
}

/** Masquerades connections from outside the pod network, because the replies might otherwise bypass this node. */
const strangersChain = (version: IpVersion, podCidrs: string[]): NftChain => ({
  name: CHAINS.masqueradeStrangers(version),
  rules: [
    ...podCidrs.map((cidr) => ({
      expressions: [...ofVersion(version), ...inPrefix('saddr', cidr), ...verdict('accept')],
    })),
    masqueradeRule([]),
  ],
});

const masqueradeRule = (conditions: NftExpression[]): NftRule => ({
  expressions: [...conditions, ...masqueradeRandomly()],
});

/** Refuses packets to a cluster IP that were not translated, because no service has their port. */
const clusterIpRules = (version: IpVersion): NftRule[] => [
  {
    expressions: [
      ...ofVersion(version),
      loadAddress('daddr', version, 0),
      isInSet(setNames(version).clusterIps, 0),
      ...goTo(CHAINS.refuse),
    ],
  },
];

const natChain = (hook: 'prerouting' | 'output' | 'postrouting', priority: number, rules: NftRule[]): NftChain => ({
  name: `nat_${hook}`,
  hook: { type: 'nat', hook, priority },
  rules,
});

const filterChain = (hook: 'forward' | 'output'): NftChain => ({
  name: `filter_${hook}`,
  hook: { type: 'filter', hook, priority: PRIORITY.filter },
  rules: [{ expressions: [...ofNewConnection(), ...jump(CHAINS.clusterIps)] }],
});
