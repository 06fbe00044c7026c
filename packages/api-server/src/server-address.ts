/** The addresses at which clients reach the server. */
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SecureAddress } from './server/api-listeners.ts';

const ANY: readonly string[] = ['0.0.0.0', '::'];

/**
 * Returns the address at which pods and other machines connect to a server that listens at `host`. `family`: the IP family of the Service
 * `kubernetes`. Returns undefined if the server listens at a loopback or link-local address, or at one of the other family.
 */
export function advertisedAddress(host: string, family: 'IPv4' | 'IPv6'): string | undefined {
  const isOfFamily = family === 'IPv4' ? isIPv4 : isIPv6;
  if (host === '::' || (host === '0.0.0.0' && family === 'IPv4')) {
    const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    return all.find(({ internal, address }) => !internal && isOfFamily(address) && !isLocal(address))?.address;
  }
  return isOfFamily(host) && !isLocal(host) ? host : undefined;
}

/** Whether an address is a loopback or link-local address, which only this host or this link can reach. */
const isLocal = (address: string): boolean => /^(127\.|169\.254\.|::1$|fe[89ab])/i.test(address);

/** The URL for clients on this host: a wildcard address is not an address to connect to. */
export const urlOf = (address: SecureAddress): string => `https://${hostAndPort(address)}`;

/** The address by which clients on this host reach a server that listens on an address. */
export const reachableHost = (host: string): string => (ANY.includes(host) ? '127.0.0.1' : host);

export function hostAndPort({ host, port }: SecureAddress): string {
  const reachable = reachableHost(host);
  return `${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
