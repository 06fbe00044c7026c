import {
  addressBytes,
  addressWords,
  applyVerdict,
  fromThisHost,
  goTo,
  type IpVersion,
  inPrefix,
  isInSet,
  loadAddress,
  loadConstant,
  loadRandom,
  lookUp,
  type NftChain,
  type NftRule,
  ofVersion,
  translateTo,
  updateSet,
  verdict,
} from '@podwright/system';
import { contentName } from '../ledger/table-rules.ts';
import type { Endpoint } from '../services/endpoints.ts';
import { portOperand } from './fields.ts';
import { loadFrontend } from './frame.ts';
import { type Policy, setNames } from './names.ts';

/**
 * A chain that handles new connections to a frontend. Its name is derived from everything its rules depend on. Whatever differs between
 * frontends is looked up in maps, so most services share their chains.
 */
export type TargetChain = NftChain;

/** Returns a chain that picks one of the frontend's `count` endpoints at random. */
export function pickChain(version: IpVersion, policy: Policy, count: number): TargetChain {
  const words = addressWords(version);
  const expressions = [
    ...ofVersion(version),
    ...loadFrontend(version),
    loadRandom(count, words + 2),
    lookUp(setNames(version)[policy], 0, 0),
    translateTo(version, 0, words),
  ];
  return { name: `pick_${policy}${version}-${count}`, rules: [{ expressions }] };
}

/** An endpoint with session affinity: its chain, and the set of its clients. */
export type StickyEndpoint = { chain: TargetChain; clients: string };

/** Returns a chain that remembers the client and translates the destination to one endpoint. */
export function stickyEndpoint(
  version: IpVersion,
  endpoint: Endpoint,
  { name, affinityMs }: { name: string; affinityMs: number },
): StickyEndpoint {
  const { address, port } = endpoint;
  const words = addressWords(version);
  const clients = contentName('clients', name, address, port);
  const remember = [...ofVersion(version), loadAddress('saddr', version, 0), updateSet(clients, 0, affinityMs)];
  const translate = [
    loadConstant(addressBytes(address), 0),
    loadConstant(portOperand(port), words),
    translateTo(version, 0, words),
  ];
  const chain = {
    name: contentName('endpoint', name, address, port, affinityMs),
    rules: [{ expressions: remember }, { expressions: translate }],
  };
  return { chain, clients };
}

/** Returns a chain that sends a known client to its previous endpoint, and others to a random one. */
export function stickyChain(version: IpVersion, policy: Policy, endpoints: StickyEndpoint[]): TargetChain {
  const names = setNames(version);
  const known = endpoints.map(({ chain, clients }): NftRule => {
    const isKnown = [...ofVersion(version), loadAddress('saddr', version, 0), isInSet(clients, 0)];
    return { expressions: [...isKnown, ...goTo(chain.name)] };
  });
  const map = policy === 'cluster' ? names.stickyCluster : names.stickyLocal;
  const random = [
    ...ofVersion(version),
    ...loadFrontend(version),
    loadRandom(endpoints.length, addressWords(version) + 2),
    applyVerdict(map, 0),
  ];
  const chains = endpoints.map(({ chain }) => chain.name);
  return { name: contentName('sticky', policy, version, chains), rules: [...known, { expressions: random }] };
}

/**
 * Returns a chain for an external address with the traffic policy Local: this node and its pods reach all endpoints, others only the
 * endpoints on this node. If this node has none, packets from others are dropped, because the load balancer must send them to a different
 * node.
 */
export function outerChain(
  version: IpVersion,
  podCidrs: string[],
  targets: { cluster: string; local: string | undefined },
): TargetChain {
  const { cluster, local } = targets;
  const fromPods = podCidrs.map((cidr): NftRule => {
    return { expressions: [...ofVersion(version), ...inPrefix('saddr', cidr), ...goTo(cluster)] };
  });
  const rules = [
    ...fromPods,
    { expressions: [...fromThisHost(), ...goTo(cluster)] },
    { expressions: local === undefined ? verdict('drop') : goTo(local) },
  ];
  return { name: contentName('outer', version, podCidrs, cluster, local), rules };
}

/** Returns a chain for a load balancer's address that drops packets from outside the Service's source ranges. */
export function guardChain(version: IpVersion, sources: string[], target: string): TargetChain {
  const rules = sources.map((cidr): NftRule => {
    return { expressions: [...ofVersion(version), ...inPrefix('saddr', cidr), ...goTo(target)] };
  });
  return {
    name: contentName('guard', version, sources, target),
    rules: [...rules, { expressions: verdict('drop') }],
  };
}
