import { type Attribute, decodeAttributes, encodeAttributes, type NetlinkMessage, text, u8, u32 } from './message.ts';
import { type NetlinkRequest, requestFlags } from './netlink-socket.ts';

// Constants from linux/rtnetlink.h, linux/if_link.h and linux/if.h.
const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_GETLINK = 18;
const IFLA_ADDRESS = 1;
const IFLA_IFNAME = 3;
const IFLA_MTU = 4;
const IFLA_LINK = 5;
const IFLA_MASTER = 10;
const IFLA_LINKINFO = 18;
const IFLA_IFALIAS = 20;
const IFLA_AF_SPEC = 26;
const IFLA_NET_NS_FD = 28;
const IFLA_INFO_KIND = 1;
const IFLA_INFO_DATA = 2;
const IFLA_INFO_SLAVE_KIND = 4;
const IFLA_INFO_SLAVE_DATA = 5;
const IFLA_BR_NF_CALL_IPTABLES = 36;
const IFLA_BR_NF_CALL_IP6TABLES = 37;
const IFLA_BRPORT_STATE = 1;
const IFLA_BRPORT_MODE = 4;
const IFLA_BRPORT_LEARNING = 8;
const IFLA_INET6_ADDR_GEN_MODE = 8;
const IN6_ADDR_GEN_MODE_NONE = 1;
const VETH_INFO_PEER = 1;
const AF_INET6 = 10;
const IFF_UP = 1;
const IFF_PROMISC = 0x100;
const BR_STATE_FORWARDING = 3;
/** struct ifinfomsg: u8 family, u8 padding, u16 type, i32 index, u32 flags, u32 mask of the flags to change. */
const HEADER_BYTES = 16;

/** A network interface. */
export type Link = {
  index: number;
  name: string;
  /** Type of a virtual link: `bridge`, `veth`, and so on. */
  kind: string | undefined;
  up: boolean;
  mtu: number;
  /** Free-form text set by the link's creator (`ip link set … alias`). */
  alias: string | undefined;
  /** Index of the bridge that this link is a port of. */
  master: number | undefined;
  /** For one end of a veth pair: index of the other end, in the other end's network namespace. */
  peer: number | undefined;
  /** Whether this link is a bridge port in the forwarding state. */
  forwards: boolean;
  /** Whether this link is a bridge port with address learning enabled. */
  learns: boolean;
};

/** Looks up a link by name. Fails with ENODEV if it does not exist. */
export function getLink(name: string): NetlinkRequest {
  return { what: `look for link ${name}`, type: RTM_GETLINK, body: header(), attributes: [named(name)] };
}

/** Lists all links. */
export function listLinks(): NetlinkRequest {
  return { what: 'list links', type: RTM_GETLINK, flags: requestFlags.dump, body: header() };
}

/** Decodes a response to `getLink` or `listLinks`. */
export function decodeLink({ body }: NetlinkMessage): Link {
  const attributes = decodeAttributes(body.subarray(HEADER_BYTES));
  const info = decodeAttributes(attributes.get(IFLA_LINKINFO) ?? Buffer.alloc(0));
  const isPort = textOf(info.get(IFLA_INFO_SLAVE_KIND)) === 'bridge';
  const port = isPort ? decodeAttributes(info.get(IFLA_INFO_SLAVE_DATA) ?? Buffer.alloc(0)) : undefined;
  return {
    index: body.readInt32LE(4),
    name: textOf(attributes.get(IFLA_IFNAME)) ?? '',
    kind: textOf(info.get(IFLA_INFO_KIND)),
    up: (body.readUInt32LE(8) & IFF_UP) !== 0,
    mtu: attributes.get(IFLA_MTU)?.readUInt32LE() ?? 0,
    alias: textOf(attributes.get(IFLA_IFALIAS)),
    master: attributes.get(IFLA_MASTER)?.readUInt32LE(),
    peer: attributes.get(IFLA_LINK)?.readUInt32LE(),
    forwards: port?.get(IFLA_BRPORT_STATE)?.[0] === BR_STATE_FORWARDING,
    learns: port?.get(IFLA_BRPORT_LEARNING)?.[0] === 1,
  };
}

/**
 * Creates a link of a type that needs no settings, such as `bridge` or `ifb`. The link is initially down. Fails with EEXIST if the name is
 * taken.
 */
export function addLink(link: { name: string; kind: string; hardwareAddress?: Buffer }): NetlinkRequest {
  const address: Attribute[] = link.hardwareAddress === undefined ? [] : [[IFLA_ADDRESS, link.hardwareAddress]];
  return {
    what: `make ${link.kind} ${link.name}`,
    type: RTM_NEWLINK,
    flags: requestFlags.create | requestFlags.excl,
    body: header(),
    attributes: [named(link.name), ...address, [IFLA_LINKINFO, [[IFLA_INFO_KIND, text(link.kind)]]]],
  };
}

/**
 * Creates a veth pair with both ends down: one end is a bridge port in this namespace, the other is created directly in the network
 * namespace referred to by an open file. The MTU applies to both ends. Fails with EEXIST if either name is taken.
 */
export function addVethPair(pair: {
  name: string;
  bridgeIndex: number;
  mtu: number;
  peer: { name: string; hardwareAddress: Buffer; namespace: number };
}): NetlinkRequest {
  const { name, bridgeIndex, mtu, peer } = pair;
  const peerAttributes = encodeAttributes([
    named(peer.name),
    [IFLA_ADDRESS, peer.hardwareAddress],
    [IFLA_MTU, u32(mtu)],
    [IFLA_NET_NS_FD, u32(peer.namespace)],
  ]);
  const data: Attribute = [IFLA_INFO_DATA, [[VETH_INFO_PEER, Buffer.concat([header(), peerAttributes])]]];
  return {
    what: `make link ${name}`,
    type: RTM_NEWLINK,
    flags: requestFlags.create | requestFlags.excl,
    body: header(),
    attributes: [
      named(name),
      [IFLA_MTU, u32(mtu)],
      [IFLA_MASTER, u32(bridgeIndex)],
      [IFLA_LINKINFO, [[IFLA_INFO_KIND, text('veth')], data]],
    ],
  };
}

/**
 * Changes a link; omitted settings are left unchanged. `hairpin` and `learning` require the link to be a bridge port already. With
 * `hairpin`, frames may leave through the port they arrived on. Without `learning`, the bridge does not learn the source addresses of
 * frames from this port.
 */
export function changeLink(
  name: string,
  change: {
    up?: true;
    promiscuous?: true;
    alias?: string;
    bridgeIndex?: number;
    hairpin?: true;
    learning?: false;
  },
): NetlinkRequest {
  const attributes: Attribute[] = [named(name)];
  if (change.alias !== undefined) attributes.push([IFLA_IFALIAS, text(change.alias)]);
  if (change.bridgeIndex !== undefined) attributes.push([IFLA_MASTER, u32(change.bridgeIndex)]);
  const port: Attribute[] = [];
  if (change.hairpin) port.push([IFLA_BRPORT_MODE, u8(1)]);
  if (change.learning === false) port.push([IFLA_BRPORT_LEARNING, u8(0)]);
  if (port.length > 0)
    attributes.push([
      IFLA_LINKINFO,
      [
        [IFLA_INFO_SLAVE_KIND, text('bridge')],
        [IFLA_INFO_SLAVE_DATA, port],
      ],
    ]);
  const flags = (change.up ? IFF_UP : 0) | (change.promiscuous ? IFF_PROMISC : 0);
  return { what: `change link ${name}`, type: RTM_NEWLINK, body: header(flags), attributes };
}

/**
 * Makes packets that a bridge forwards between its ports pass through the packet filter's IP hooks. No-op unless the kernel has
 * `br_netfilter` (`/proc/sys/net/bridge` exists). Fails with ENODEV if the bridge does not exist.
 */
export function filterBridgedPackets(name: string): NetlinkRequest {
  const settings: Attribute[] = [
    [IFLA_BR_NF_CALL_IPTABLES, u8(1)],
    [IFLA_BR_NF_CALL_IP6TABLES, u8(1)],
  ];
  const info: Attribute[] = [
    [IFLA_INFO_KIND, text('bridge')],
    [IFLA_INFO_DATA, settings],
  ];
  const attributes: Attribute[] = [named(name), [IFLA_LINKINFO, info]];
  return { what: `filter packets of bridge ${name}`, type: RTM_NEWLINK, body: header(), attributes };
}

/** Keeps the kernel from generating a link-local IPv6 address for a link. No-op if the kernel has no IPv6 support. */
export function withoutLinkLocalAddress(name: string): NetlinkRequest {
  return {
    what: `disable the link-local address of link ${name}`,
    type: RTM_NEWLINK,
    body: header(),
    attributes: [named(name), [IFLA_AF_SPEC, [[AF_INET6, [[IFLA_INET6_ADDR_GEN_MODE, u8(IN6_ADDR_GEN_MODE_NONE)]]]]]],
    ignore: ['EAFNOSUPPORT', 'ENOTSUP'],
  };
}

/**
 * Deletes a link (both ends of a veth pair); no error if it does not exist. Takes at least 20 ms, waiting for RCU grace periods in the
 * kernel.
 */
export function deleteLink(name: string): NetlinkRequest {
  return {
    what: `remove link ${name}`,
    type: RTM_DELLINK,
    body: header(),
    attributes: [named(name)],
    ignore: ['ENODEV'],
  };
}

function header(flags = 0): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32LE(flags, 8);
  bytes.writeUInt32LE(flags, 12);
  return bytes;
}

const named = (name: string): Attribute => [IFLA_IFNAME, text(name)];
const textOf = (bytes: Buffer | undefined): string | undefined => bytes?.toString('utf8').replace(/\0+$/, '');
