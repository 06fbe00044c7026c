import { counted } from '@podwright/base';
import { matchesLabelSelector } from '@podwright/kube-api';
import {
  addressBytes,
  addressWords,
  applyVerdict,
  comesIn,
  type IpVersion,
  inPrefix,
  isInSet,
  jump,
  loadAddress,
  type NftChain,
  type NftRule,
  type NftSet,
  ofKnownConnection,
  ofNeighbourDiscovery,
  ofProtocol,
  ofVersion,
  toManyHosts,
  toPorts,
  verdict,
} from '@podwright/system';
import { contentName, type TableRules } from '../ledger/table-rules.ts';
import { PROTOCOL_NUMBERS, type Protocol } from '../services/service-port.ts';
import { VERSIONS } from '../table/frame.ts';
import type { NetworkPolicy, PolicyPeer, PolicyPort } from './objects.ts';
import { type ClusterPods, type Condition, isProtocol, type PeerField, PeerSets, portsNamed } from './peers.ts';
import { ipOf, type PodFacts } from './pod-facts.ts';
import { ELEMENTS_AS_RULE, MAX_EXPRESSIONS, MAX_POD_RULES, refusedGroups, type SizedGroup } from './policy-size.ts';

type Direction = 'Ingress' | 'Egress';
/** A policy rule in either direction. `namespace`: the policy's namespace. */
type PolicyRule = { namespace: string; peers: PolicyPeer[] | undefined; ports: PolicyPort[] | undefined };

const setNames = (version: IpVersion) => ({
  /** Pods isolated by policies in a direction → the chain with their rules. */
  Ingress: `ingress${version}`,
  Egress: `egress${version}`,
  /** Isolated pods as both source and destination: a pod may always reach itself through a Service. */
  itself: `itself${version}`,
});

/** NF_IP_PRI_FILTER (linux/netfilter_ipv4.h). */
const FILTER_PRIORITY = 0;
const ANY: Condition = { id: 'any', expressions: [] };
const MAX_PORT = 65_535;

/** Returns the sets and maps that exist even without policies. */
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

/** Addresses that the kernel assigns to each pod in addition to those in the Pod object. */
const LINK_LOCAL = 'fe80::/10';

/**
 * Returns the chains that exist even without policies. They filter only forwarded packets, after destination NAT, so all traffic between a
 * pod and its node is permitted, as for probes. `isolatedBridge`: a bridge whose pods may reach each other only at the addresses in their
 * Pod objects, because policies do not cover any others.
 */
export function policyFrame(isolatedBridge?: string): NftChain[] {
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
      rules: [
        established,
        ...(isolatedBridge === undefined ? [] : bridgeRules(isolatedBridge)),
        { expressions: jump('policies') },
      ],
    },
  ];
}

function bridgeRules(bridge: string): NftRule[] {
  const unknown = [
    toManyHosts(),
    ...(['saddr', 'daddr'] as const).map((field) => [...ofVersion(6), ...inPrefix(field, LINK_LOCAL)]),
  ];
  return [
    { expressions: [...comesIn(bridge), ...ofVersion(6), ...ofNeighbourDiscovery(), ...verdict('accept')] },
    ...unknown.map((matches) => ({ expressions: [...comesIn(bridge), ...matches, ...verdict('drop')] })),
  ];
}

/** Policy rules, and the pods that are isolated completely because their policies would need too many rules. */
export type PolicyRules = TableRules & { refused: string[] };

/**
 * Translates policies to rules for the pods of this node. A pod selected by policies may be reached (or reach others) only as one of them
 * permits; other pods are unrestricted. Pods whose policies need too many rules are isolated completely.
 */
export function policyRules(policies: NetworkPolicy[], cluster: ClusterPods): PolicyRules {
  const peerSets = new PeerSets(cluster);
  const rules: PolicyRules = { elements: [], chains: [], sets: [], refused: [] };
  const groups = groupsOf(policies, cluster);
  const isTooLarge = ({ ruleCount }: Group) => ruleCount > MAX_POD_RULES;
  const refused = refusedGroups(groups.filter((group) => !isTooLarge(group)));
  for (const group of groups) {
    const isRefused = refused.has(group) || isTooLarge(group);
    const { name } = group.pods[0]!;
    if (isRefused)
      rules.refused.push(`${group.direction} of ${counted(group.pods.length, 'pod')} as ${group.namespace}/${name}`);
    isolate({ ...group, rules, peerSets }, isRefused ? [] : group.policyRules);
  }
  for (const element of peerSets.elements) rules.elements.push(element);
  rules.sets.push(...peerSets.sets);
  return rules;
}

/** Pods with the same rules in one direction. */
type Group = SizedGroup & { pods: PodFacts[]; direction: Direction; policyRules: PolicyRule[]; ruleCount: number };

function groupsOf(policies: NetworkPolicy[], cluster: ClusterPods): Group[] {
  const groups = new Map<string, Group>();
  const selections = new Set<string>();
  const numbers = new Map(policies.map((policy, number) => [policy, number]));
  for (const pod of cluster.pods.filter(({ isLocal }) => isLocal)) {
    const { namespace } = pod;
    const own = policies.filter(
      ({ metadata, spec }) =>
        metadata.namespace === namespace && matchesLabelSelector(spec?.podSelector ?? {}, pod.labels),
    );
    for (const direction of ['Ingress', 'Egress'] as const) {
      const applied = own.filter((policy) => typesOf(policy).includes(direction));
      if (applied.length === 0) continue;
      const id = JSON.stringify([direction, applied.map((policy) => numbers.get(policy)), pod.ports]);
      const known = groups.get(id);
      known?.pods.push(pod);
      if (known !== undefined) continue;
      const policyRules = applied.flatMap((policy) => rulesIn(policy, direction));
      const ruleCount = countRules(policyRules, direction, pod);
      const sets = ruleCount > MAX_POD_RULES ? 0 : countSets(policyRules, direction, selections);
      const size = ruleCount + Math.ceil(cluster.pods.length / ELEMENTS_AS_RULE) * sets;
      groups.set(id, { namespace, direction, pods: [pod], policyRules, ruleCount, size });
    }
  }
  return [...groups.values()];
}

/** Counts a pod's rules without creating them; stops above `MAX_POD_RULES`. */
function countRules(policyRules: PolicyRule[], direction: Direction, pod: PodFacts): number {
  let count = 0;
  for (const { peers = [], ports = [] } of policyRules) {
    const peerCount = peers.reduce((sum, { ipBlock }) => sum + 1 + (ipBlock?.except ?? []).length, 0) || 1;
    if (peerCount * ports.length > MAX_POD_RULES) return Number.POSITIVE_INFINITY;
    const portCount = ports.reduce((sum, { port }) => {
      const isNamed = direction === 'Ingress' && typeof port === 'string';
      return sum + (isNamed ? Math.max(1, pod.ports.filter(({ name }) => name === port).length) : 1);
    }, 0);
    count += peerCount * (portCount || 1);
    if (count > MAX_POD_RULES) return count;
  }
  return count;
}

/** Counts the address sets (of pods and of named ports) that a group needs in addition to those of earlier groups. */
function countSets(policyRules: PolicyRule[], direction: Direction, selections: Set<string>): number {
  const before = selections.size;
  let named = 0;
  for (const { namespace, peers = [], ports = [] } of policyRules) {
    for (const peer of peers) if (peer.ipBlock === undefined) selections.add(JSON.stringify([namespace, peer]));
    if (direction === 'Egress') named += ports.filter(({ port }) => typeof port === 'string').length;
  }
  return selections.size - before + named;
}

/**
 * Returns the policy types of a NetworkPolicy. If unset, returns the API's defaults: `Ingress`, and `Egress` if the policy has egress
 * rules.
 */
const typesOf = ({ spec }: NetworkPolicy): Direction[] =>
  spec?.policyTypes ?? ((spec?.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']);

function rulesIn({ metadata, spec }: NetworkPolicy, direction: Direction): PolicyRule[] {
  const namespace = metadata.namespace ?? '';
  if (direction === 'Ingress')
    return (spec?.ingress ?? []).map(({ from, ports }) => ({ namespace, peers: from, ports }));
  return (spec?.egress ?? []).map(({ to, ports }) => ({ namespace, peers: to, ports }));
}

type Isolation = { pods: PodFacts[]; direction: Direction; rules: TableRules; peerSets: PeerSets };

function isolate({ pods, direction, rules, peerSets }: Isolation, policyRules: PolicyRule[]): void {
  for (const version of VERSIONS) {
    const reached = pods.filter((pod) => ipOf(pod, version) !== undefined);
    const [pod] = reached;
    if (pod === undefined) continue;
    const permitted = policyRules.flatMap((rule) => conditions({ rule, pod, direction, version, peerSets }));
    const chain = permissionChain(direction, version, permitted);
    rules.chains.push(chain);
    for (const pod of reached) addPod(pod, { direction, version, rules, chain: chain.name });
  }
}

function addPod(
  pod: PodFacts,
  { direction, version, rules, chain }: { direction: Direction; version: IpVersion; rules: TableRules; chain: string },
): void {
  const names = setNames(version);
  const key = addressBytes(ipOf(pod, version)!);
  const comment = `${pod.namespace}/${pod.name}`;
  rules.elements.push({ set: names[direction], key, data: { jump: chain }, comment });
  rules.elements.push({ set: names.itself, key: Buffer.concat([key, key]) });
}

/**
 * Returns a chain that returns to the policies chain if any condition matches, and otherwise drops the packet. Conditions that the kernel
 * would reject as a rule, such as a block with very many exceptions, are left out, so the packets they would permit are dropped.
 */
function permissionChain(direction: Direction, version: IpVersion, permitted: Condition[]): NftChain {
  const possible = permitted.filter(({ expressions }) => expressions.length < MAX_EXPRESSIONS);
  const unique = [...new Map(possible.map((condition) => [condition.id, condition])).values()];
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

/**
 * Returns a rule's conditions. It permits packets that match one of its peers and one of its ports; an unset or empty list matches
 * everything.
 */
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

/**
 * Returns the conditions for a rule's ports. Port names are resolved in the destination pod. For incoming packets, that is the isolated pod
 * itself; for outgoing ones it varies, so the condition must also match the destination's address.
 */
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
