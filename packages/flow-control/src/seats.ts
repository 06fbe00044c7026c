/** Divides the server's seats among the priority levels (apiserver, util/flowcontrol/apf_controller.go). */
import { type ApiObject, numberAt, objectAt, textAt } from '@podwright/kube-kinds';
import type { FairQueuesConfig } from './fair-queues.ts';

/** Returns the number of shares of a level. The seats are divided in proportion to the shares. */
function sharesOf(level: ApiObject): number {
  return numberAt(level, 'spec', isExempt(level) ? 'exempt' : 'limited', 'nominalConcurrencyShares') ?? 0;
}

/** Whether all requests of a level run immediately, without seats. */
export const isExempt = (level: ApiObject): boolean => textAt(level, 'spec', 'type') === 'Exempt';

/** Numbers of seats: `nominal` without borrowing, `min` when the level lends all that it may lend, `max` when it borrows all that it may. */
export type SeatLimits = { nominal: number; min: number; max: number };

/** Returns the limits of each level, by name. The nominal numbers are rounded up, so their sum might slightly exceed `seats`. */
export function divideSeats(levels: readonly ApiObject[], seats: number): Map<string, SeatLimits> {
  const sum = levels.reduce((total, level) => total + sharesOf(level), 0);
  const limits = (level: ApiObject): SeatLimits => {
    const nominal = sum === 0 ? 0 : Math.ceil((seats * sharesOf(level)) / sum);
    const field = isExempt(level) ? 'exempt' : 'limited';
    const percent = (name: string) => numberAt(level, 'spec', field, name);
    const part = (percent: number) => Math.round((nominal * percent) / 100);
    const borrowing = isExempt(level) ? undefined : percent('borrowingLimitPercent');
    return {
      nominal,
      min: nominal - part(percent('lendablePercent') ?? 0),
      max: nominal + (borrowing === undefined ? seats : part(borrowing)),
    };
  };
  return new Map(levels.map((level) => [level.metadata.name ?? '', limits(level)]));
}

/** Returns the seats of a new level until its first adjustment. */
export const firstSeats = ({ nominal, min }: SeatLimits): number => nominal - Math.floor((nominal - min) / 2);

/** Returns how requests of a level are queued. */
export function queuesConfig(level: ApiObject): Omit<FairQueuesConfig, 'seats'> {
  const queuing = objectAt(level, 'spec', 'limited', 'limitResponse', 'queuing');
  if (queuing === undefined) return {};
  const count = (field: string, least: number) => Math.max(least, numberAt(queuing, field) ?? 0);
  const queues = count('queues', 1);
  const handSize = Math.min(queues, count('handSize', 1));
  return { queuing: { queues, handSize, queueLengthLimit: count('queueLengthLimit', 0) } };
}
