import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import { clientCiphers, clientContext } from '@podwright/base';
import type { Backend, BackendCall } from './backend.ts';

/** As in Go's default transport. */
const DIAL_TIMEOUT_MS = 30_000;

/** Detects that a backend's host has vanished. A backend may be silent for as long as its client waits, such as the log of a quiet container. */
const KEEP_ALIVE_MS = 30_000;

export type NetworkAddress = {
  scheme: 'http' | 'https';
  /** The name or address in URLs and in the TLS handshake. */
  host: string;
  port: number;
  /** The IP address to connect to. Default: `host`. */
  address?: string;
  /**
   * TLS options. `isVerified`: whether to verify the backend's certificate. Default: if there is a `ca`. Without a `ca`, the authorities of
   * Node.js are trusted.
   */
  tls?: { cert?: string; key?: string; ca?: string; isVerified?: boolean };
};

/** A backend that is reached over TCP, with or without TLS. */
export function networkBackend(target: NetworkAddress): Backend {
  const { scheme, host, port, address = host, tls: { isVerified: verifies, ...tls } = {} } = target;
  const options: RequestOptions = { host: address, port, agent: false };
  const isVerified = verifies ?? tls.ca !== undefined;
  const secure = () => ({
    servername: isIP(host) === 0 ? host : '', // by default, node:https takes the `Host` header, which is the client's
    rejectUnauthorized: isVerified,
    secureContext: clientContext(isVerified ? 'server' : 'unverifiedServer', {
      ...tls,
      ciphers: clientCiphers(),
      minVersion: 'TLSv1.2',
    }),
  });
  const open = (call: BackendCall): ClientRequest =>
    scheme === 'https' ? httpsRequest({ ...options, ...secure(), ...call }) : httpRequest({ ...options, ...call });
  return {
    scheme,
    authority: `${isIPv6(host) ? `[${host}]` : host}:${port}`,
    request: (call) => bounded(open(call), scheme === 'https' ? 'secureConnect' : 'connect'),
  };
}

/** Bounds the time to connect. */
function bounded(outgoing: ClientRequest, connected: 'connect' | 'secureConnect'): ClientRequest {
  const giveUp = () => outgoing.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' }));
  const timer = setTimeout(giveUp, DIAL_TIMEOUT_MS);
  outgoing.once('close', () => clearTimeout(timer));
  outgoing.once('socket', (socket: Socket) => {
    socket.once(connected, () => {
      clearTimeout(timer);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
    });
  });
  return outgoing;
}
