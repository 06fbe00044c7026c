import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import { clientCiphers, clientContext } from '@podwright/base';
import type { Backend, BackendCall } from './backend.ts';

/** Connect timeout, as in Go's default transport. */
const DIAL_TIMEOUT_MS = 30_000;

/**
 * Delay before the first TCP keep-alive probe. Keep-alive detects that a backend's host is gone. Idleness is no sign of that: a backend may
 * be silent as long as its client waits, e.g. for a quiet container's log.
 */
const KEEP_ALIVE_MS = 30_000;

export type NetworkAddress = {
  scheme: 'http' | 'https';
  /** The backend's host name or IP address, used in URLs and in the TLS handshake. */
  host: string;
  port: number;
  /** The IP address to connect to if `host` has already been resolved. Default: `host`. */
  address?: string;
  /**
   * TLS options. `isVerified`: whether to verify the backend's certificate. Default: true if there is a `ca`. If `ca` is unset, Node.js's
   * default CAs are trusted.
   */
  tls?: { cert?: string; key?: string; ca?: string; isVerified?: boolean };
  /** Pools TLS connections for requests that may reuse one. Must have been created with the options from `secureOptions`. */
  agent?: Agent;
};

/** Returns the options for a TLS connection to the backend. */
export function secureOptions({
  host,
  tls: { isVerified: verifies, ...tls } = {},
}: Pick<NetworkAddress, 'host' | 'tls'>) {
  const isVerified = verifies ?? tls.ca !== undefined;
  return {
    servername: isIP(host) === 0 ? host : '', // by default, node:https takes the `Host` header, which is the client's
    rejectUnauthorized: isVerified,
    secureContext: clientContext(isVerified ? 'server' : 'unverifiedServer', {
      ...tls,
      ciphers: clientCiphers(),
      minVersion: 'TLSv1.2',
    }),
  };
}

/** Returns a backend that is reached over TCP, with or without TLS. */
export function networkBackend(target: NetworkAddress): Backend {
  const { scheme, host, port, address = host, agent } = target;
  const options: RequestOptions = { host: address, port, agent: false };
  const open = ({ mayReuse = false, ...call }: BackendCall): ClientRequest => {
    if (scheme === 'http') return httpRequest({ ...options, ...call });
    if (mayReuse && agent !== undefined) return httpsRequest({ ...options, ...call, agent });
    return httpsRequest({ ...options, ...secureOptions(target), ...call });
  };
  return {
    scheme,
    authority: `${isIPv6(host) ? `[${host}]` : host}:${port}`,
    request: (call) => bounded(open(call), scheme === 'https' ? 'secureConnect' : 'connect'),
  };
}

/** Destroys a request to the backend with a timeout error if its connection is not established within `DIAL_TIMEOUT_MS`. */
function bounded(outgoing: ClientRequest, connected: 'connect' | 'secureConnect'): ClientRequest {
  const giveUp = () => outgoing.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' }));
  const timer = setTimeout(giveUp, DIAL_TIMEOUT_MS);
  outgoing.once('close', () => clearTimeout(timer));
  outgoing.once('socket', (socket: Socket) => {
    if (outgoing.reusedSocket) return clearTimeout(timer);
    socket.once(connected, () => {
      clearTimeout(timer);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
    });
  });
  return outgoing;
}
