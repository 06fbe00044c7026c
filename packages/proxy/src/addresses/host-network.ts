import {
  decodeAddress,
  decodeRoute,
  type LinkAddress,
  listAddresses,
  listRoutes,
  type NetlinkSocket,
} from '@podwright/system';

/** The index of the loopback interface. */
export const LOOPBACK = 1;

/** The addresses of the host's interfaces, and the CIDR blocks to which its main table has routes, apart from default and loopback ones. */
export type HostNetwork = { addresses: LinkAddress[]; routed: string[] };

/** Reads them through a socket of the protocol `route`. */
export async function readHostNetwork(socket: NetlinkSocket): Promise<HostNetwork> {
  const [addresses = []] = await socket.request([listAddresses()]); // a socket sends one list at a time
  const [routes = []] = await socket.request([listRoutes()]);
  return {
    addresses: addresses.flatMap((message) => decodeAddress(message) ?? []),
    routed: routes.flatMap((message) => {
      const route = decodeRoute(message);
      if (route === undefined || route.linkIndex === LOOPBACK) return []; // an IPv6 address of the interface has a route
      return [`${route.destination}/${route.prefixLength}`];
    }),
  };
}
