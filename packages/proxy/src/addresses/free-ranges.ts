/** Ranges of addresses for a node that no configuration file describes. */
import { randomInt } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import { NetlinkSockets } from '@podwright/system';
import { readHostNetwork } from './host-network.ts';
import { overlap, prefixOf } from './service-range.ts';

/** The subnet of the pods and the range of Services. */
export type NodeRanges = { subnet: string; serviceCidr: string };

/** Random choices of a block, of which most are free on a usual host. */
const TRIES = 500;
/**
 * Private networks are often routed as a whole, to a company's network. If they all are, blocks are chosen that no narrower route has: the
 * prefixes of the routes that are respected, in the order of the attempts.
 */
const RESPECTED_PREFIXES = [0, 9, 13, 17];
/** The private networks (RFC 1918), as functions that return the first two bytes of a block of 24 bits. */
const NETWORKS = [() => `10.${randomInt(256)}`, () => `172.${randomInt(16, 32)}`, () => '192.168'] as const;

/** Chooses ranges that the host neither has addresses of nor routes to. `given`: those that a user has chosen. */
export async function freeRanges(given: Partial<NodeRanges>): Promise<NodeRanges> {
  const socket = new NetlinkSockets().open('route');
  try {
    const { addresses, routed } = await readHostNetwork(socket);
    const held = addresses.map(({ address, prefixLength }) => `${address}/${prefixLength}`);
    return chooseRanges([...held, ...routed], given);
  } finally {
    socket.close();
  }
}

/** Chooses ranges that overlap none of the `used` blocks. Throws `failed_precondition` if there are none. */
export function chooseRanges(used: readonly string[], given: Partial<NodeRanges> = {}): NodeRanges {
  const subnet = given.subnet ?? freeBlock([...used, ...(given.serviceCidr === undefined ? [] : [given.serviceCidr])]);
  return { subnet, serviceCidr: given.serviceCidr ?? freeBlock([...used, ...subnet.split(',')]) };
}

function freeBlock(used: readonly string[]): string {
  for (const least of RESPECTED_PREFIXES) {
    const respected = used.filter((block) => prefixOf(block) >= least);
    for (const network of NETWORKS)
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const block = `${network()}.${randomInt(256)}.0/24`;
        if (!respected.some((one) => overlap(one, block))) return block;
      }
  }
  const message =
    'the host routes all private addresses to other machines: choose free ones with --subnet and --service-cidr';
  throw new PodwrightError('failed_precondition', message);
}
