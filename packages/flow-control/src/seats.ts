/** Divides the server's seats among the priority levels (apiserver, util/flowcontrol/apf_controller.go), without borrowing. */
import { type ApiObject, numberAt, objectAt, textAt } from '@podwright/kube-kinds';
import type { FairQueuesConfig } from './fair-queues.ts';

/** Returns a level's share of the seats, relative to those of other levels. */
function sharesOf(level: ApiObject): number {
  return numberAt(level, 'spec', isExempt(level) ? 'exempt' : 'limited', 'nominalConcurrencyShares') ?? 0;
}

/** Whether requests of a level neither wait nor are refused. */
export const isExempt = (level: ApiObject): boolean => textAt(level, 'spec', 'type') === 'Exempt';

/** Returns the numbers of seats by the names of the levels. All together may be a few more than there are, because each is rounded up. */
export function divideSeats(levels: readonly ApiObject[], seats: number): Map<string, number> {
  const sum = levels.reduce((total, level) => total + sharesOf(level), 0);
  const share = (level: ApiObject) => (sum === 0 ? 0 : Math.ceil((seats * sharesOf(level)) / sum));
  return new Map(levels.map((level) => [level.metadata.name ?? '', share(level)]));
}

/** Returns how requests of a limited level run and wait. */
export function queuesConfig(level: ApiObject, seats: number): FairQueuesConfig {
  const queuing = objectAt(level, 'spec', 'limited', 'limitResponse', 'queuing');
  if (queuing === undefined) return { seats };
  const count = (field: string, least: number) => Math.max(least, numberAt(queuing, field) ?? 0);
  const queues = count('queues', 1);
  const handSize = Math.min(queues, count('handSize', 1));
  return { seats, queuing: { queues, handSize, queueLengthLimit: count('queueLengthLimit', 0) } };
}
