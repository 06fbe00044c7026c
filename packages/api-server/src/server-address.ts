/** The server's addresses, as used by clients. */
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SecureAddress } from './server/api-listeners.ts';

const ANY: readonly string[] = ['0.0.0.0', '::'];

/**
 * Returns the address at which pods and other machines reach a server listening on `host`. `family`: IP family of the Service `kubernetes`.
 * Returns `undefined` if the server listens on a loopback or link-local address, or on one of the other family.
 */
export function advertisedAddress(host: string, family: 'IPv4' | 'IPv6'): string | undefined {
  const isOfFamily = family === 'IPv4' ? isIPv4 : isIPv6;
  if (host === '::' || (host === '0.0.0.0' && family === 'IPv4')) {
    const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    return all.find(({ internal, address }) => !internal && isOfFamily(address) && !isLocal(address))?.address;
  }
  return isOfFamily(host) && !isLocal(host) ? host : undefined;
}

/** Whether an address is loopback or link-local, so that other hosts, or hosts on other networks, cannot reach it. */
const isLocal = (address: string): boolean => /^(127\.|169\.254\.|::1$|fe[89ab])/i.test(address);

/** Returns the URL for clients on this host. Wildcard addresses are replaced, because one cannot connect to them. */
export const urlOf = (address: SecureAddress): string => `https://${hostAndPort(address)}`;

/** Returns the address at which clients on this host reach a server listening on `host`. */
export const reachableHost = (host: string): string => (ANY.includes(host) ? '127.0.0.1' : host);

export function hostAndPort({ host, port }: SecureAddress): string {
  const reachable = reachableHost(host);
  return `${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
