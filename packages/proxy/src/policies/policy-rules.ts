import { matchesLabelSelector } from '@podwright/kube-api';
import {
  addressBytes,
  addressWords,
  applyVerdict,
  type IpVersion,
  isInSet,
  jump,
  loadAddress,
  type NftChain,
  type NftRule,
  type NftSet,
  ofKnownConnection,
  ofProtocol,
  ofVersion,
  toPorts,
  verdict,
} from '@podwright/system';
import { contentName, type TableRules } from '../ledger/table-rules.ts';
import { PROTOCOL_NUMBERS, type Protocol } from '../services/service-port.ts';
import { VERSIONS } from '../table/frame.ts';
import type { NetworkPolicy, PolicyPeer, PolicyPort } from './objects.ts';
import { type ClusterPods, type Condition, isProtocol, type PeerField, PeerSets, portsNamed } from './peers.ts';
import { ipOf, type PodFacts } from './pod-facts.ts';

type Direction = 'Ingress' | 'Egress';
/** A rule of a policy in either direction; `namespace` is that of the policy. */
type PolicyRule = { namespace: string; peers: PolicyPeer[] | undefined; ports: PolicyPort[] | undefined };

/** Names of the sets and maps of one IP family. */
const setNames = (version: IpVersion) => ({
  /** Pods that policies isolate in a direction → the chain of their rules. */
  Ingress: `ingress${version}`,
  Egress: `egress${version}`,
  /** Isolated pods as source and destination: a pod may always reach itself, through a Service. */
  itself: `itself${version}`,
});

/** NF_IP_PRI_FILTER (linux/netfilter_ipv4.h). */
const FILTER_PRIORITY = 0;
const ANY: Condition = { id: 'any', expressions: [] };
const MAX_PORT = 65_535;

/** Returns the sets and maps that exist without any policy. */
export function policySets(): NftSet[] {
  return VERSIONS.flatMap((version): NftSet[] => {
    const names = setNames(version);
    const address = version === 4 ? 'ipv4_addr' : 'ipv6_addr';
    return [
      { name: names.Ingress, key: [address], data: 'verdict', elements: [] },
      { name: names.Egress, key: [address], data: 'verdict', elements: [] },
      { name: names.itself, key: [address, address], elements: [] },
    ];
  });
}

/**
 * Returns the chains that exist without any policy. Only forwarded packets are filtered, with the addresses that they have after the
 * translation of destinations: between a pod and its node, as for probes, everything is permitted.
 */
export function policyFrame(): NftChain[] {
  const direction = (version: IpVersion, field: PeerField, map: string): NftRule => ({
    expressions: [...ofVersion(version), loadAddress(field, version, 0), applyVerdict(map, 0)],
  });
  const rules = VERSIONS.flatMap((version): NftRule[] => {
    const names = setNames(version);
    const itself = [
      loadAddress('saddr', version, 0),
      loadAddress('daddr', version, addressWords(version)),
      isInSet(names.itself, 0),
    ];
    return [
      { expressions: [...ofVersion(version), ...itself, ...verdict('accept')] },
      direction(version, 'saddr', names.Egress),
      direction(version, 'daddr', names.Ingress),
    ];
  });
  const established: NftRule = { expressions: [...ofKnownConnection(), ...verdict('accept')] };
  return [
    { name: 'policies', rules },
    {
      name: 'forward',
      hook: { type: 'filter', hook: 'forward', priority: FILTER_PRIORITY },
      rules: [established, { expressions: jump('policies') }],
    },
  ];
}

/**
 * Translates policies to rules for the pods of this node. A pod that a policy selects may be reached (or reach others) only as one of its
 * policies permits; other pods are not restricted.
 */
export function policyRules(policies: NetworkPolicy[], cluster: ClusterPods): TableRules {
  const peerSets = new PeerSets(cluster);
  const rules: TableRules = { elements: [], chains: [], sets: [] };
  for (const pod of cluster.pods.filter(({ isLocal }) => isLocal)) {
    const own = policies.filter(
      ({ metadata, spec }) =>
        metadata.namespace === pod.namespace && matchesLabelSelector(spec?.podSelector ?? {}, pod.labels),
    );
    for (const direction of ['Ingress', 'Egress'] as const) {
      const applied = own.filter((policy) => typesOf(policy).includes(direction));
      if (applied.length > 0)
        isolate(
          { pod, direction, rules, peerSets },
          applied.flatMap((policy) => rulesIn(policy, direction)),
        );
    }
  }
  rules.elements.push(...peerSets.elements);
  rules.sets.push(...peerSets.sets);
  return rules;
}

/** Defaults of the API: `Ingress`, and `Egress` if the policy has egress rules. */
const typesOf = ({ spec }: NetworkPolicy): Direction[] =>
  spec?.policyTypes ?? ((spec?.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']);

function rulesIn({ metadata, spec }: NetworkPolicy, direction: Direction): PolicyRule[] {
  const namespace = metadata.namespace ?? '';
  if (direction === 'Ingress')
    return (spec?.ingress ?? []).map(({ from, ports }) => ({ namespace, peers: from, ports }));
  return (spec?.egress ?? []).map(({ to, ports }) => ({ namespace, peers: to, ports }));
}

type Isolation = { pod: PodFacts; direction: Direction; rules: TableRules; peerSets: PeerSets };

function isolate({ pod, direction, rules, peerSets }: Isolation, policyRules: PolicyRule[]): void {
  for (const version of VERSIONS) {
    const ip = ipOf(pod, version);
    if (ip === undefined) continue;
    const permitted = policyRules.flatMap((rule) => conditions({ rule, pod, direction, version, peerSets }));
    const chain = permissionChain(direction, version, permitted);
    const names = setNames(version);
    const key = addressBytes(ip);
    const comment = `${pod.namespace}/${pod.name}`;
    rules.chains.push(chain);
    rules.elements.push({ set: names[direction], key, data: { jump: chain.name }, comment });
    rules.elements.push({ set: names.itself, key: Buffer.concat([key, key]) });
  }
}

/** Returns to the chain of policies if any condition matches, and drops the packet otherwise. */
function permissionChain(direction: Direction, version: IpVersion, permitted: Condition[]): NftChain {
  const unique = [...new Map(permitted.map((condition) => [condition.id, condition])).values()];
  const rules = unique.map(({ expressions }): NftRule => ({ expressions: [...expressions, ...verdict('return')] }));
  const ids = unique.map(({ id }) => id);
  return {
    name: contentName(direction.toLowerCase(), version, ids),
    rules: [...rules, { expressions: verdict('drop') }],
  };
}

type RuleInput = {
  rule: PolicyRule;
  pod: PodFacts;
  direction: Direction;
  version: IpVersion;
  peerSets: PeerSets;
};

/** A rule permits what matches one of its peers and one of its ports; an absent or empty list matches everything. */
function conditions(input: RuleInput): Condition[] {
  const { rule, direction, version, peerSets } = input;
  const peers = rule.peers?.map((peer) => ({ ...peer, namespace: rule.namespace }));
  const all = peers === undefined || peers.length === 0;
  const field = direction === 'Ingress' ? 'saddr' : 'daddr';
  const peerConditions = all ? [ANY] : peers.flatMap((peer) => peerSets.condition(peer, field, version) ?? []);
  const { numbered, named } = portConditions(input);
  const destinations = named.map((port) => peerSets.namedPort(all ? undefined : peers, port, version));
  return [
    ...peerConditions.flatMap((peer) => numbered.map((port) => both(version, peer, port))),
    ...destinations.map((destination) => both(version, destination, ANY)),
  ];
}

/** Names of ports are those of the pod that is reached: known for incoming packets, different for each destination of outgoing ones. */
function portConditions({ rule: { ports = [] }, pod, direction }: RuleInput) {
  const numbered: Condition[] = ports.length === 0 ? [ANY] : [];
  const named: { name: string; protocol: Protocol }[] = [];
  for (const { protocol = 'TCP', port, endPort } of ports) {
    if (!isProtocol(protocol)) continue;
    if (port === undefined) numbered.push(portCondition(protocol, 0, MAX_PORT));
    else if (typeof port === 'number') numbered.push(portCondition(protocol, port, endPort ?? port));
    else if (direction === 'Egress') named.push({ name: port, protocol });
    else numbered.push(...portsNamed(pod, port, protocol).map((number) => portCondition(protocol, number, number)));
  }
  return { numbered, named };
}

function portCondition(protocol: Protocol, first: number, last: number): Condition {
  const isEvery = first === 0 && last === MAX_PORT;
  const expressions = [...ofProtocol(PROTOCOL_NUMBERS[protocol]), ...(isEvery ? [] : toPorts(first, last))];
  return { id: `${protocol} ${first} ${last}`, expressions };
}

const both = (version: IpVersion, a: Condition, b: Condition): Condition => ({
  id: `${a.id} ${b.id}`,
  expressions: [...ofVersion(version), ...a.expressions, ...b.expressions],
});
