/** Chooses unused address ranges for an ephemeral node (`podwright up --ephemeral`), which has no configuration file. */
import { randomInt } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import { NetlinkSockets } from '@podwright/system';
import { readHostNetwork } from './host-network.ts';
import { overlap, prefixOf, rangesOfNodes } from './service-range.ts';

/** The pod subnet and the Service range, as CIDR blocks. */
export type NodeRanges = { subnet: string; serviceCidr: string };

/** How many random blocks of a private network to try. On most hosts, the first one is unused. */
const MAX_TRIES = 500;
/**
 * Minimum prefix length of the routes to avoid: routes with a shorter prefix are ignored. Each value is tried if the previous one leaves no
 * unused block. Many hosts route entire private networks (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16) to a company network, but use only
 * narrower routes themselves.
 */
const MIN_ROUTE_PREFIXES = [0, 9, 13, 17];
/** The private networks (RFC 1918), as functions returning the first two bytes of a random /24 block. */
const PRIVATE_NETWORKS = [() => `10.${randomInt(256)}`, () => `172.${randomInt(16, 32)}`, () => '192.168'] as const;

/**
 * Chooses ranges that contain none of the host's addresses, that the host has no routes to, and that no other node on the host serves.
 * `given`: the ranges set by the user. `directory`: the directory with the claims of all nodes on the host.
 */
export async function freeRanges(directory: string, given: Partial<NodeRanges>): Promise<NodeRanges> {
  const socket = new NetlinkSockets().open('route');
  try {
    const { addresses, routed } = await readHostNetwork(socket);
    const held = addresses.map(({ address, prefixLength }) => `${address}/${prefixLength}`);
    return chooseRanges([...held, ...routed, ...rangesOfNodes(directory)], given);
  } finally {
    socket.close();
  }
}

/** Chooses ranges that overlap neither the `used` blocks nor each other. Throws `failed_precondition` if there are none. */
export function chooseRanges(used: readonly string[], given: Partial<NodeRanges> = {}): NodeRanges {
  const subnet = given.subnet ?? freeBlock([...used, ...(given.serviceCidr === undefined ? [] : [given.serviceCidr])]);
  return { subnet, serviceCidr: given.serviceCidr ?? freeBlock([...used, ...subnet.split(',')]) };
}

function freeBlock(used: readonly string[]): string {
  for (const minPrefix of MIN_ROUTE_PREFIXES) {
    const avoided = used.filter((block) => prefixOf(block) >= minPrefix);
    for (const network of PRIVATE_NETWORKS)
      for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
        const block = `${network()}.${randomInt(256)}.0/24`;
        if (!avoided.some((one) => overlap(one, block))) return block;
      }
  }
  const message =
    'the host routes all private addresses to other machines: choose free ones with --subnet and --service-cidr';
  throw new PodwrightError('failed_precondition', message);
}
