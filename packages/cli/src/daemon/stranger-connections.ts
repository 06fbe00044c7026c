import type { Server } from 'node:net';
import { type ConnectionEnds, StrangerLimit } from '@podwright/kubelet-server';
import { deferAccept, filterConnections, SocketOwners } from '@podwright/system';

/**
 * How long the kernel holds back a connection until the client sends data (TCP_DEFER_ACCEPT). It is the same as the timeout for a request.
 */
export const SILENT_CLIENT_SECONDS = 10;

/** Limits the connections of unknown clients to a port of the API server as those to the kubelet's port are limited. */
export function limitStrangers(): {
  onListening: (server: Server) => void;
  onAuthenticated: (connection: ConnectionEnds) => void;
} {
  const owners = new SocketOwners();
  const limit = new StrangerLimit({ peerUser: (ends) => owners.userOf(ends) });
  return {
    onListening: (server) => {
      deferAccept(server, SILENT_CLIENT_SECONDS);
      filterConnections(server, (ends) => limit.allows(ends));
    },
    onAuthenticated: (connection) => limit.markAuthenticated(connection),
  };
}
