import { addressBytes, addressText } from './ip-address.ts';
import { decodeAttributes, type NetlinkMessage, u32 } from './message.ts';
import { type NetlinkRequest, requestFlags } from './netlink-socket.ts';

// linux/rtnetlink.h and linux/socket.h
const RTM_NEWROUTE = 24;
const RTM_GETROUTE = 26;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const RTA_TABLE = 15;
const RT_TABLE_MAIN = 254;
const RTPROT_BOOT = 3;
const RTN_UNICAST = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/**
 * struct rtmsg: u8 family, u8 lengths of the destination's and the source's prefixes, u8 type of service, table, protocol,
 * scope and type, u32 flags.
 */
const HEADER_BYTES = 12;

/** A route of the main table, except default routes; those with several ways have no link. */
export type Route = { destination: string; prefixLength: number; linkIndex: number | undefined; viaGateway: boolean };

/** Makes a default route, in place of one that is there. */
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

/** Asks for all routes. */
export function listRoutes(): NetlinkRequest {
  return { what: 'list routes', type: RTM_GETROUTE, flags: requestFlags.dump, body: Buffer.alloc(HEADER_BYTES) };
}

/** A route that `listRoutes` was answered with; undefined for those of other tables, for default routes and for what is no unicast. */
export function decodeRoute({ body }: NetlinkMessage): Route | undefined {
  const attributes = decodeAttributes(body.subarray(HEADER_BYTES));
  const table = attributes.get(RTA_TABLE)?.readUInt32LE() ?? body[4];
  const destination = attributes.get(RTA_DST);
  const wanted = (body[0] === AF_INET || body[0] === AF_INET6) && table === RT_TABLE_MAIN && body[7] === RTN_UNICAST;
  if (!wanted || destination === undefined) return undefined;
  return {
    destination: addressText(destination),
    prefixLength: body[1]!,
    linkIndex: attributes.get(RTA_OIF)?.readUInt32LE(),
    viaGateway: attributes.has(RTA_GATEWAY),
  };
}
