import { addressBytes, addressText } from './ip-address.ts';
import { decodeAttributes, type NetlinkMessage, u32 } from './message.ts';
import { type NetlinkRequest, requestFlags } from './netlink-socket.ts';

// Constants from linux/rtnetlink.h and linux/socket.h.
const RTM_NEWROUTE = 24;
const RTM_GETROUTE = 26;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const RTA_PRIORITY = 6;
const RTA_MULTIPATH = 9;
const RTA_TABLE = 15;
/** Attribute for a gateway in a different address family than the route. */
const RTA_VIA = 18;
const RT_TABLE_MAIN = 254;
const RTPROT_BOOT = 3;
const RTN_UNICAST = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** struct rtmsg: u8 family, u8 destination and source prefix lengths, u8 type of service, table, protocol, scope and type, u32 flags. */
const HEADER_BYTES = 12;
const NEXT_HOP_BYTES = 8;

/** A non-default route in the main routing table. `linkIndex` is undefined for a multipath route. */
export type Route = { destination: string; prefixLength: number; linkIndex: number | undefined; viaGateway: boolean };

/** A default route in the main routing table, with the links of all its next hops. Lower metrics are preferred. */
export type DefaultRoute = { family: 4 | 6; metric: number; linkIndexes: number[] };

/** Adds or replaces the default route. */
export function addDefaultRoute(route: { linkIndex: number; gateway: string }): NetlinkRequest {
  const gateway = addressBytes(route.gateway);
  const family = gateway.length === 4 ? AF_INET : AF_INET6;
  return {
    what: `add a default route via ${route.gateway}`,
    type: RTM_NEWROUTE,
    flags: requestFlags.create | requestFlags.replace,
    body: Buffer.from([family, 0, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, 0, RTN_UNICAST, 0, 0, 0, 0]),
    attributes: [
      [RTA_GATEWAY, gateway],
      [RTA_OIF, u32(route.linkIndex)],
    ],
  };
}

/** Lists all routes. */
export function listRoutes(): NetlinkRequest {
  return { what: 'list routes', type: RTM_GETROUTE, flags: requestFlags.dump, body: Buffer.alloc(HEADER_BYTES) };
}

/** Decodes a response to `listRoutes`; `undefined` for default routes, routes in other tables, and non-unicast routes. */
export function decodeRoute({ body }: NetlinkMessage): Route | undefined {
  const attributes = decodeAttributes(body.subarray(HEADER_BYTES));
  const destination = attributes.get(RTA_DST);
  if (!isUnicastInMain(body, attributes) || destination === undefined) return undefined;
  return {
    destination: addressText(destination),
    prefixLength: body[1]!,
    linkIndex: attributes.get(RTA_OIF)?.readUInt32LE(),
    viaGateway: nextHopsOf(attributes).every((hop) => hop.attributes.has(RTA_GATEWAY) || hop.attributes.has(RTA_VIA)),
  };
}

/** Decodes a response to `listRoutes`; `undefined` unless it is a unicast default route in the main table. */
export function decodeDefaultRoute({ body }: NetlinkMessage): DefaultRoute | undefined {
  const attributes = decodeAttributes(body.subarray(HEADER_BYTES));
  if (!isUnicastInMain(body, attributes) || body[1] !== 0) return undefined;
  return {
    family: body[0] === AF_INET ? 4 : 6,
    metric: attributes.get(RTA_PRIORITY)?.readUInt32LE() ?? 0,
    linkIndexes: nextHopsOf(attributes).flatMap(({ linkIndex }) => linkIndex ?? []),
  };
}

function isUnicastInMain(body: Buffer, attributes: Map<number, Buffer>): boolean {
  const table = attributes.get(RTA_TABLE)?.readUInt32LE() ?? body[4];
  return (body[0] === AF_INET || body[0] === AF_INET6) && table === RT_TABLE_MAIN && body[7] === RTN_UNICAST;
}

type NextHop = { linkIndex: number | undefined; attributes: Map<number, Buffer> };

/**
 * Returns the next hops. They are in the route's own attributes or, for a multipath route, in each struct rtnexthop (8 bytes: u16 length,
 * two bytes, link index).
 */
function nextHopsOf(route: Map<number, Buffer>): NextHop[] {
  const multipath = route.get(RTA_MULTIPATH);
  if (multipath === undefined) return [{ linkIndex: route.get(RTA_OIF)?.readUInt32LE(), attributes: route }];
  const nextHops: NextHop[] = [];
  for (let at = 0; at + NEXT_HOP_BYTES <= multipath.length; ) {
    const length = Math.max(NEXT_HOP_BYTES, multipath.readUInt16LE(at));
    const attributes = decodeAttributes(multipath.subarray(at + NEXT_HOP_BYTES, at + length));
    nextHops.push({ linkIndex: multipath.readInt32LE(at + 4), attributes });
    at += length;
  }
  return nextHops;
}
