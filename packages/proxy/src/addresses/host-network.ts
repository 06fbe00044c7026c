import {
  decodeAddress,
  decodeRoute,
  type LinkAddress,
  listAddresses,
  listRoutes,
  type NetlinkSocket,
} from '@podwright/system';
import { blockOf, prefixOf } from './service-range.ts';

/** The index of the loopback interface. */
export const LOOPBACK = 1;

/** Returns an address of a node's Services as an address of the loopback interface. */
export const onLoopback = (address: string): LinkAddress => ({
  linkIndex: LOOPBACK,
  address,
  prefixLength: prefixOf(blockOf(address)),
});

/**
 * The addresses of the host's interfaces, and the destinations in its main routing table as CIDR blocks, except for default and loopback
 * routes.
 */
export type HostNetwork = { addresses: LinkAddress[]; routed: string[] };

/** Reads the addresses and routes through a netlink socket for the protocol `route`. */
export async function readHostNetwork(socket: NetlinkSocket): Promise<HostNetwork> {
  const [addresses = []] = await socket.request([listAddresses()]); // the kernel answers one list request of a socket at a time
  const [routes = []] = await socket.request([listRoutes()]);
  return {
    addresses: addresses.flatMap((message) => decodeAddress(message) ?? []),
    routed: routes.flatMap((message) => {
      const route = decodeRoute(message);
      if (route === undefined || route.linkIndex === LOOPBACK) return []; // each IPv6 address of the loopback interface has a route
      return [`${route.destination}/${route.prefixLength}`];
    }),
  };
}
