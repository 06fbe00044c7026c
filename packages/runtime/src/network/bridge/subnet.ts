import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { PodwrightError } from '@podwright/base';
import { addressBytes, addressText, prefixMask } from '@podwright/system';

/** Addresses that cannot be used for pods: loopback, link-local and multicast. */
const UNUSABLE = new BlockList();
for (const [network, prefixLength] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
] as const)
  UNUSABLE.addSubnet(network, prefixLength, 'ipv4');
for (const [network, prefixLength] of [
  ['::', 96],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  UNUSABLE.addSubnet(network, prefixLength, 'ipv6');

/** A pod subnet. `cidr` consists of its first address and prefix length. */
export type Subnet = { cidr: string; family: 4 | 6 };

/**
 * Parses one subnet, or one per IP family, comma-separated. Throws `invalid_argument` if a subnet has no room for pods (its first two
 * addresses are those of the network and the bridge) or if both subnets are of the same IP family.
 */
export function parseSubnets(text: string): Subnet[] {
  const subnets = text.split(',').map((part) => parseSubnet(part.trim()));
  const families = new Set(subnets.map(({ family }) => family));
  if (families.size < subnets.length)
    throw new PodwrightError('invalid_argument', `pod subnet "${text}": at most one of each address family`);
  return subnets;
}

function parseSubnet(text: string): Subnet {
  const [address = '', length = '', ...rest] = text.split('/');
  const bits = isIPv4(address) ? 32 : isIPv6(address) && !address.includes('%') ? 128 : 0;
  const prefixLength = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (bits === 0 || rest.length > 0 || !(prefixLength >= 8 && prefixLength <= bits - 2)) {
    const hint = 'give an address and a prefix length, such as 10.88.0.0/16';
    throw new PodwrightError('invalid_argument', `pod subnet "${text}": ${hint}`);
  }
  if (UNUSABLE.check(address, bits === 32 ? 'ipv4' : 'ipv6')) {
    const hint =
      'no pod can be reached at loopback, link-local or multicast addresses; give another, such as 10.88.0.0/16';
    throw new PodwrightError('invalid_argument', `pod subnet "${text}": ${hint}`);
  }
  const [bytes, mask] = [addressBytes(address), prefixMask(prefixLength, bits / 8)];
  const network = addressText(Buffer.from(bytes.map((byte, at) => byte & mask[at]!)));
  return { cidr: `${network}/${prefixLength}`, family: bits === 32 ? 4 : 6 };
}
