/**
 * Divides the server's seats among the priority levels (apiserver, util/flowcontrol/apf_controller.go). Levels do not lend seats to each
 * other.
 */
import { type ApiObject, numberAt, objectAt, textAt } from '@podwright/kube-kinds';
import type { FairQueuesConfig } from './fair-queues.ts';

/** Returns the number of shares of a level. The seats are divided in proportion to the shares. */
function sharesOf(level: ApiObject): number {
  return numberAt(level, 'spec', isExempt(level) ? 'exempt' : 'limited', 'nominalConcurrencyShares') ?? 0;
}

/** Whether all requests of a level run immediately, without seats. */
export const isExempt = (level: ApiObject): boolean => textAt(level, 'spec', 'type') === 'Exempt';

/** Returns the number of seats per level, by name. Each number is rounded up, so the sum might slightly exceed `seats`. */
export function divideSeats(levels: readonly ApiObject[], seats: number): Map<string, number> {
  const sum = levels.reduce((total, level) => total + sharesOf(level), 0);
  const share = (level: ApiObject) => (sum === 0 ? 0 : Math.ceil((seats * sharesOf(level)) / sum));
  return new Map(levels.map((level) => [level.metadata.name ?? '', share(level)]));
}

/** Returns the number of seats and the queues of a limited level. */
export function queuesConfig(level: ApiObject, seats: number): FairQueuesConfig {
  const queuing = objectAt(level, 'spec', 'limited', 'limitResponse', 'queuing');
  if (queuing === undefined) return { seats };
  const count = (field: string, least: number) => Math.max(least, numberAt(queuing, field) ?? 0);
  const queues = count('queues', 1);
  const handSize = Math.min(queues, count('handSize', 1));
  return { seats, queuing: { queues, handSize, queueLengthLimit: count('queueLengthLimit', 0) } };
}
