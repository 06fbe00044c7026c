/**
 * Shuffle sharding (apiserver, util/shufflesharding): a hash of the flow's name selects a few of its level's queues, its hand. Two flows
 * rarely have the same hand, so a flow that fills its queues leaves other flows some queues with room.
 */
import { hash } from 'node:crypto';

/** Returns a flow's hand: `handSize` distinct numbers less than `queues`. A flow always has the same hand. */
export function dealHand(flow: string, { queues, handSize }: { queues: number; handSize: number }): number[] {
  let entropy = Buffer.from(hash('sha256', flow, 'buffer')).readBigUInt64LE();
  const taken: number[] = []; // ascending
  const hand: number[] = [];
  for (let dealt = 0; dealt < Math.min(handSize, queues); dealt++) {
    const left = BigInt(queues - dealt);
    let queue = Number(entropy % left); // counted without the queues that are in the hand already
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
