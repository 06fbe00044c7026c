import { isIP } from 'node:net';
import { hostname } from 'node:os';

const WILDCARDS = new Set(['0.0.0.0', '::']);
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
/** Matches a host and an optional port, as in the Host header (RFC 9110, section 7.2). */
const HOST = /^(?:\[([\da-f:.]{2,45})\]|([a-z\d][a-z\d.-]{0,252}))(?::\d{1,5})?$/i;

/**
 * Whether a Host header refers to this server. In a DNS rebinding attack, the attacker's host name resolves to this host, and the header
 * contains that name. Any port is accepted because `ssh -L` might forward a different one. `listenHost`: the IP address that the server
 * listens on.
 */
export function isOwnHost(header: string, listenHost: string): boolean {
  const [, bracketed, plain] = HOST.exec(header) ?? [];
  const host = (bracketed ?? plain ?? '').toLowerCase();
  if (host === '' || (bracketed !== undefined && isIP(bracketed) !== 6)) return false;
  if (LOOPBACK.includes(host) || host === listenHost.toLowerCase()) return true;
  // IP addresses are not resolved, so they cannot be rebound. A wildcard address covers all addresses of the host.
  return WILDCARDS.has(listenHost) && (isIP(host) !== 0 || host === hostname().toLowerCase());
}
