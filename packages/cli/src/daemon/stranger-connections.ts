import type { Server } from 'node:net';
import type { ClientNetworks } from '@podwright/dns';
import { type ConnectionEnds, StrangerLimit } from '@podwright/kubelet-server';
import { deferAccept, filterConnections, SocketOwners, type TcpEnds } from '@podwright/system';

/** How long the kernel holds back a connection until the client sends data (TCP_DEFER_ACCEPT). Same as the request timeout. */
const SILENT_CLIENT_SECONDS = 10;

/** Makes a server accept only connections whose clients have sent data and that `allows` accepts. */
export function guardPort(server: Server, allows?: (ends: TcpEnds) => boolean): void {
  deferAccept(server, SILENT_CLIENT_SECONDS);
  if (allows) filterConnections(server, allows);
}

/**
 * Limits connections from unknown clients to an API server port in the same way as for the kubelet's port. If `clients` is set, refuses
 * connections from all other addresses.
 */
export function limitStrangers(clients?: ClientNetworks): {
  onListening: (server: Server) => void;
  onAuthenticated: (connection: ConnectionEnds) => void;
} {
  const owners = new SocketOwners();
  const limit = new StrangerLimit({ peerUser: (ends) => owners.userOf(ends) });
  return {
    onListening: (server) => guardPort(server, (ends) => isClient(ends, clients) && limit.allows(ends)),
    onAuthenticated: (connection) => limit.markAuthenticated(connection),
  };
}

const isClient = ({ remoteAddress = '' }: TcpEnds, clients: ClientNetworks | undefined): boolean =>
  clients?.has(remoteAddress) ?? true;
