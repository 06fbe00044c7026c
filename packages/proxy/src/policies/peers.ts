import { type LabelSelector, matchesLabelSelector } from '@podwright/kube-api';
import {
  addressBytes,
  addressWords,
  type IpVersion,
  inPrefix,
  isInSet,
  loadAddress,
  loadDestinationPort,
  loadProtocol,
  type NftExpression,
  type NftSet,
} from '@podwright/system';
import { contentName, type RuleElement } from '../ledger/table-rules.ts';
import { ofFamily } from '../services/node-facts.ts';
import { PROTOCOL_NUMBERS, type Protocol } from '../services/service-port.ts';
import { frontendKey } from '../table/fields.ts';
import type { PolicyPeer } from './objects.ts';
import { ipOf, type PodFacts } from './pod-facts.ts';

/** A condition that packets can match: its expressions, and an ID shared by equal conditions. */
export type Condition = { id: string; expressions: NftExpression[] };

/** The packet field that identifies a peer: the source of incoming packets, the destination of outgoing ones. */
export type PeerField = 'saddr' | 'daddr';

/** The pods and namespaces of the cluster. */
export type ClusterPods = {
  pods: PodFacts[];
  /** The labels of each namespace, by namespace name. */
  namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
};

/** Pods selected by a peer of a policy in `namespace`. */
type Selection = { namespace: string; podSelector?: LabelSelector; namespaceSelector?: LabelSelector };

/** Collects the address sets that conditions refer to: one per pod selection, shared by all policies. */
export class PeerSets {
  readonly sets: NftSet[] = [];
  readonly elements: RuleElement[] = [];
  readonly #cluster: ClusterPods;
  readonly #selected = new Map<string, PodFacts[]>();
  readonly #made = new Set<string>();

  constructor(cluster: ClusterPods) {
    this.#cluster = cluster;
  }

  /** Returns the condition that a packet's address belongs to a peer; `undefined` if the peer has no addresses of the IP family. */
  condition(peer: PolicyPeer & { namespace: string }, field: PeerField, version: IpVersion): Condition | undefined {
    if (peer.ipBlock !== undefined) return blockCondition(peer.ipBlock, field, version);
    const { id, pods } = this.#select(peer);
    const name = contentName('pods', version, id);
    this.#add({ name, key: [version === 4 ? 'ipv4_addr' : 'ipv6_addr'], elements: [] }, () =>
      pods.flatMap((pod) => {
        const ip = ipOf(pod, version);
        return ip === undefined ? [] : [addressBytes(ip)];
      }),
    );
    return { id: name, expressions: [...loadPeer(field, version), isInSet(name, 0)] };
  }

  /**
   * Returns the condition that a packet's destination is a port with this name on a pod selected by any of the peers; on any pod if `peers`
   * is `undefined`.
   */
  namedPort(
    peers: (PolicyPeer & { namespace: string })[] | undefined,
    { name: portName, protocol }: { name: string; protocol: Protocol },
    version: IpVersion,
  ): Condition {
    const selections = (peers ?? []).filter(({ ipBlock }) => ipBlock === undefined).map((peer) => this.#select(peer));
    const pods = peers === undefined ? this.#cluster.pods : [...new Set(selections.flatMap(({ pods }) => pods))];
    const ids = peers === undefined ? 'any' : selections.map(({ id }) => id);
    const name = contentName('ports', version, ids, portName, protocol);
    const address = version === 4 ? 'ipv4_addr' : 'ipv6_addr';
    this.#add({ name, key: [address, 'inet_proto', 'inet_service'], elements: [] }, () =>
      pods.flatMap((pod) => {
        const ip = ipOf(pod, version);
        if (ip === undefined) return [];
        return portsNamed(pod, portName, protocol).map((port) => frontendKey({ version, address: ip, protocol, port }));
      }),
    );
    const words = addressWords(version);
    const load = [...loadPeer('daddr', version), loadProtocol(words), loadDestinationPort(words + 1)];
    return { id: name, expressions: [...load, isInSet(name, 0)] };
  }

  #add(set: NftSet, keys: () => Buffer[]): void {
    if (this.#made.has(set.name)) return;
    this.#made.add(set.name);
    this.sets.push(set);
    for (const key of keys()) this.elements.push({ set: set.name, key });
  }

  /**
   * Returns the selected pods. A peer with only a pod selector selects pods in the policy's namespace; one with only a namespace selector
   * selects all pods in the matching namespaces.
   */
  #select({ namespace, podSelector, namespaceSelector }: Selection): { id: string; pods: PodFacts[] } {
    const home = namespaceSelector === undefined ? namespace : undefined;
    const id = JSON.stringify([home, namespaceSelector, podSelector]);
    const known = this.#selected.get(id);
    if (known !== undefined) return { id, pods: known };
    const { pods, namespaces } = this.#cluster;
    const selected = pods.filter((pod) => {
      const isHere =
        home === undefined
          ? matchesLabelSelector(namespaceSelector, namespaces.get(pod.namespace))
          : pod.namespace === home;
      return isHere && matchesLabelSelector(podSelector ?? {}, pod.labels);
    });
    this.#selected.set(id, selected);
    return { id, pods: selected };
  }
}

/** Returns the numbers of a pod's ports with this name and protocol. */
export const portsNamed = ({ ports }: PodFacts, name: string, protocol: Protocol): number[] => [
  ...new Set(ports.filter((port) => port.name === name && port.protocol === protocol).map(({ port }) => port)),
];

export const isProtocol = (protocol: string): protocol is Protocol => protocol in PROTOCOL_NUMBERS;

function blockCondition(
  { cidr, except = [] }: NonNullable<PolicyPeer['ipBlock']>,
  field: PeerField,
  version: IpVersion,
): Condition | undefined {
  if (ofFamily([cidr], version).length === 0) return undefined;
  const not = ofFamily(except, version).flatMap((block) => inPrefix(field, block, false));
  return { id: JSON.stringify([cidr, except]), expressions: [...inPrefix(field, cidr), ...not] };
}

const loadPeer = (field: PeerField, version: IpVersion): NftExpression[] => [loadAddress(field, version, 0)];
