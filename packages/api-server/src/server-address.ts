/** The addresses at which clients reach the server. */
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SecureAddress } from './server/api-listeners.ts';

const ANY: readonly string[] = ['0.0.0.0', '::'];

/**
 * The address under which pods and other machines reach the server; undefined if it listens on loopback or on an IPv6 address only (Services
 * are IPv4).
 */
export function advertisedAddress(host: string): string | undefined {
  if (ANY.includes(host)) {
    const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  }
  return isIPv4(host) && !host.startsWith('127.') ? host : undefined;
}

/** The URL for clients on this host: a wildcard address is not an address to connect to. */
export const urlOf = (address: SecureAddress): string => `https://${hostAndPort(address)}`;

/** The address by which clients on this host reach a server that listens on an address. */
export const reachableHost = (host: string): string => (ANY.includes(host) ? '127.0.0.1' : host);

export function hostAndPort({ host, port }: SecureAddress): string {
  const reachable = reachableHost(host);
  return `${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
