import {
  decodeAddress,
  decodeRoute,
  type LinkAddress,
  listAddresses,
  listRoutes,
  type NetlinkSocket,
} from '@podwright/system';

/** The addresses of the host's interfaces, and the CIDR blocks to which its main table has routes, apart from default routes. */
export type HostNetwork = { addresses: LinkAddress[]; routed: string[] };

/** Reads them through a socket of the protocol `route`. */
export async function readHostNetwork(socket: NetlinkSocket): Promise<HostNetwork> {
  const [addresses = []] = await socket.request([listAddresses()]); // a socket sends one list at a time
  const [routes = []] = await socket.request([listRoutes()]);
  return {
    addresses: addresses.flatMap((message) => decodeAddress(message) ?? []),
    routed: routes.flatMap((message) => {
      const route = decodeRoute(message);
      return route === undefined ? [] : [`${route.destination}/${route.prefixLength}`];
    }),
  };
}
