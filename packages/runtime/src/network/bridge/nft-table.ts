import {
  addressBytes,
  comesIn,
  daddrIn,
  destinationTranslated,
  goesOut,
  type IpVersion,
  inPrefix,
  jump,
  masquerade,
  type NftChain,
  type NftElement,
  type NftElementChange,
  type NftRule,
  type NftSet,
  type NftTable,
  type NftType,
  ofVersion,
  toThisHost,
  translateDestination,
  verdict,
} from '@podwright/system';
import { type HostRuleset, LOOPBACK, LOOPBACK_IPV6, MULTICAST, tableName } from './host-ruleset.ts';
import type { PortRule } from './port-rules.ts';

/** Hook priorities (linux/netfilter_ipv4.h): NF_IP_PRI_NAT_DST, NF_IP_PRI_NAT_SRC, NF_IP_PRI_FILTER. */
const PRIORITY = { dstnat: -100, srcnat: 100, filter: 0 } as const;
const PROTOCOLS = { tcp: 6, udp: 17, sctp: 132 } as const;
const ADDRESS_TYPES: Record<IpVersion, NftType> = { 4: 'ipv4_addr', 6: 'ipv6_addr' };

/** Names of the nf_tables sets for one IP family. */
const setNames = (version: IpVersion) => ({
  /** Maps ports on all host addresses to pods. */
  ports: `host_ports${version}`,
  /** Maps ports on single host addresses to pods. */
  portsAt: `host_ports_at${version}`,
  /** The addresses of pods with published ports. */
  pods: `published_pods${version}`,
});

/** Builds the complete nf_tables table. Ports are map elements, so the cost of adding a port does not depend on their number. */
export function nftTable({ bridge, subnets }: HostRuleset, ports: PortRule[]): NftTable {
  const versions = subnets.map(({ family }) => family);
  return {
    name: tableName(bridge),
    sets: versions.flatMap((version) => setsOf(version, ports)),
    chains: [
      { name: 'host_ports', rules: versions.flatMap(hostPortRules) },
      ...translationChains({ bridge, subnets }),
      inputChain(bridge),
    ],
  };
}

/**
 * Returns the set element changes that turn the rules `before` into the rules `after`. Compares rules by identity: an unchanged rule must
 * be the same object in both lists.
 */
export function nftPortChanges(versions: IpVersion[], before: PortRule[], after: PortRule[]): NftElementChange[] {
  const [had, has] = [new Set(before), new Set(after)];
  const removed = before.filter((rule) => !has.has(rule));
  const added = after.filter((rule) => !had.has(rule));
  const [podsBefore, podsAfter] = [podsOf(before), podsOf(after)];
  return versions.flatMap((version) => {
    const removals = setsOf(version, removed, (pod) => !podsAfter.has(pod));
    const additions = setsOf(version, added, (pod) => !podsBefore.has(pod));
    return removals.flatMap(({ name, elements: remove }, index) => {
      const add = additions[index]!.elements;
      return remove.length + add.length === 0 ? [] : [{ set: name, add, remove }];
    });
  });
}

const podsOf = (rules: PortRule[]): Set<string> => new Set(rules.map(podKey));
const podKey = ({ ip, sandboxId }: PortRule): string => `${ip} ${sandboxId}`;

/**
 * Returns the rules of the `host_ports` chain. All packets to this host go through it, whether they come from localhost, the host itself or
 * elsewhere.
 */
function hostPortRules(version: IpVersion): NftRule[] {
  const { ports, portsAt } = setNames(version);
  return [
    { expressions: translateDestination(version, portsAt, true) },
    { expressions: translateDestination(version, ports, false) },
  ];
}

function translationChains({ bridge, subnets }: HostRuleset): NftChain[] {
  const toHostPorts: NftRule = { expressions: [...toThisHost(), ...jump('host_ports')] };
  // Ports published on the host's loopback addresses can only be used by the host itself, whose packets go through `output`.
  const fromOthers: NftRule = { expressions: [...ofVersion(4), ...inPrefix('daddr', LOOPBACK), ...verdict('accept')] };
  const toLoopback = [...ofVersion(6), ...inPrefix('daddr', LOOPBACK_IPV6)];
  const toIpv6Loopback: NftRule = { expressions: [...toLoopback, ...verdict('accept')] };
  const hasIpv6 = subnets.some(({ family }) => family === 6);
  return [
    {
      name: 'prerouting',
      hook: { type: 'nat', hook: 'prerouting', priority: PRIORITY.dstnat },
      rules: [fromOthers, toHostPorts],
    },
    {
      name: 'output',
      hook: { type: 'nat', hook: 'output', priority: PRIORITY.dstnat },
      rules: [...(hasIpv6 ? [toIpv6Loopback] : []), toHostPorts],
    },
    {
      name: 'postrouting',
      hook: { type: 'nat', hook: 'postrouting', priority: PRIORITY.srcnat },
      rules: [...subnets.flatMap(masqueradeRules), loopbackRule(bridge)],
    },
  ];
}

/**
 * Returns the rules that masquerade packets from pods to the outside, and packets that reach a pod in the same subnet through a host port.
 * Without the latter, replies would return directly over the bridge, bypassing address translation.
 */
function masqueradeRules({ cidr, family }: HostRuleset['subnets'][number]): NftRule[] {
  const fromPod = [...ofVersion(family), ...inPrefix('saddr', cidr)];
  const outside = [...inPrefix('daddr', cidr, false), ...inPrefix('daddr', MULTICAST[family], false)];
  const toPublished = [...daddrIn(family, setNames(family).pods), ...destinationTranslated()];
  return [
    { expressions: [...fromPod, ...outside, ...masquerade()] },
    { expressions: [...fromPod, ...toPublished, ...masquerade()] },
  ];
}

/** Masquerades packets from 127.0.0.0/8, because pods cannot reply to such addresses. */
const loopbackRule = (bridge: string): NftRule => ({
  expressions: [...goesOut(bridge), ...ofVersion(4), ...inPrefix('saddr', LOOPBACK), ...masquerade()],
});

function inputChain(bridge: string): NftChain {
  const fromLoopback = [...comesIn(bridge), ...ofVersion(4), ...inPrefix('saddr', LOOPBACK)];
  const toLoopback = [...comesIn(bridge), ...ofVersion(4), ...inPrefix('daddr', LOOPBACK)];
  return {
    name: 'input',
    hook: { type: 'filter', hook: 'input', priority: PRIORITY.filter },
    rules: [
      { expressions: [...fromLoopback, ...verdict('drop')] },
      { expressions: [...toLoopback, ...destinationTranslated(), ...verdict('accept')] },
      { expressions: [...toLoopback, ...verdict('drop')] },
    ],
  };
}

function setsOf(version: IpVersion, ports: PortRule[], hasPod: (pod: string) => boolean = () => true): NftSet[] {
  const names = setNames(version);
  const address = ADDRESS_TYPES[version];
  const data: NftType[] = [address, 'inet_service'];
  const own = ports.filter((port) => port.version === version);
  const pods = new Map(own.filter((port) => hasPod(podKey(port))).map((port) => [port.ip, port.sandboxId]));
  const ofEvery = own.filter(({ hostIp }) => hostIp === undefined).map(portElement);
  const ofOne = own.filter(({ hostIp }) => hostIp !== undefined).map(portElement);
  return [
    { name: names.ports, key: ['inet_proto', 'inet_service'], data, elements: ofEvery },
    { name: names.portsAt, key: [address, 'inet_proto', 'inet_service'], data, elements: ofOne },
    {
      name: names.pods,
      key: [address],
      elements: [...pods].map(([ip, sandboxId]) => ({ key: addressBytes(ip), comment: sandboxId })),
    },
  ];
}

function portElement({ protocol, hostIp, hostPort, ip, containerPort, sandboxId }: PortRule): NftElement {
  const at = hostIp === undefined ? Buffer.alloc(0) : addressBytes(hostIp);
  return {
    key: Buffer.concat([at, Buffer.from([PROTOCOLS[protocol], 0, 0, 0]), portField(hostPort)]),
    data: Buffer.concat([addressBytes(ip), portField(containerPort)]),
    comment: sandboxId,
  };
}

/** Encodes a port as a set element field: 16 bits in network byte order, padded to four bytes. */
function portField(port: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(port);
  return bytes;
}
