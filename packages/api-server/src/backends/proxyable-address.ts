import { BlockList, isIP } from 'node:net';
import { badRequest } from '@podwright/api-machinery';
import { nodeLookups } from '@podwright/base';

/**
 * Addresses that are not global unicast according to Go (net.IP.IsGlobalUnicast), to which requests are not proxied. Private ranges are
 * global unicast.
 */
const REFUSED = new BlockList();
REFUSED.addAddress('0.0.0.0');
REFUSED.addAddress('255.255.255.255');
REFUSED.addSubnet('127.0.0.0', 8);
REFUSED.addSubnet('169.254.0.0', 16);
REFUSED.addSubnet('224.0.0.0', 4);
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  REFUSED.addSubnet(network, prefix, 'ipv6');

/**
 * Whether requests may be proxied to an address. The proxy must not reach the API server's loopback interface or link-local network, where
 * clouds run their metadata service. IPv4-mapped IPv6 addresses are treated as IPv4.
 */
export function isProxyable(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !address.includes('%') && !REFUSED.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Returns an IP address of the host. Throws 400 unless requests may be proxied to all of the host's addresses. The caller must connect to
 * the returned address, because a second lookup may return a different one.
 */
export async function proxyableAddress(host: string): Promise<string> {
  const found = isIP(host) === 0 ? await addressesOf(host) : [host];
  if (found.length === 0) throw badRequest('no addresses for hostname');
  if (!found.every(isProxyable)) throw badRequest('address not allowed');
  return found[0]!;
}

async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await nodeLookups.addresses(host)).map(({ address }) => address);
  } catch {
    throw badRequest(`lookup ${host}: no such host`);
  }
}
