/**
 * Shuffle sharding: each flow has a hand of queues, so that a flow that fills its own queues fills all those of another flow only with a
 * small probability.
 */
import { hash } from 'node:crypto';

/** Returns the numbers of a flow's queues, all different and below `queues`. The hand of a flow is always the same. */
export function dealHand(flow: string, { queues, handSize }: { queues: number; handSize: number }): number[] {
  let entropy = Buffer.from(hash('sha256', flow, 'buffer')).readBigUInt64LE();
  const taken: number[] = []; // ascending
  const hand: number[] = [];
  for (let dealt = 0; dealt < Math.min(handSize, queues); dealt++) {
    const left = BigInt(queues - dealt);
    let queue = Number(entropy % left); // the position among the queues that are not in the hand
    entropy /= left;
    let position = 0;
    while (position < taken.length && taken[position]! <= queue) {
      queue += 1;
      position += 1;
    }
    taken.splice(position, 0, queue);
    hand.push(queue);
  }
  return hand;
}
