import { EventLoopBudget } from '@podwright/base';
import { type ApiObject, textAt } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';
import { repeat } from './repeat.ts';

const EVENTS = 'events';
/** How long events are retained: the default of upstream's `--event-ttl`. */
const LIFE_MS = 3_600_000;
const CHECK_EVERY_MS = 60_000;

/** Deletes events one hour after their last change. */
export function expireEvents(parts: ControllerParts & { now: () => number }): Promise<void> {
  return repeat(() => deleteExpired(parts), { ...parts, everyMs: CHECK_EVERY_MS, failure: 'expire events failed' });
}

export async function deleteExpired({ store, registryOf, context, now }: ControllerParts & { now: () => number }) {
  const before = now() - LIFE_MS;
  const budget = new EventLoopBudget();
  for (const event of store.list(EVENTS).objects) {
    if (budget.isSpent) await budget.renew();
    const object = event.decode();
    if (lastChange(object) > before) continue;
    const { namespace = '', name = '' } = object.metadata;
    const options = { preconditions: { resourceVersion: String(event.revision) } };
    await registryOf(EVENTS).delete({ namespace, name }, options, context()).catch(ignoreOvertaken);
  }
}

/** Returns an event's latest timestamp in Unix milliseconds. */
function lastChange(event: ApiObject): number {
  const times = [
    textAt(event, 'series', 'lastObservedTime'),
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
    textAt(event, 'metadata', 'creationTimestamp'),
  ];
  return Math.max(0, ...times.map((time) => Date.parse(time)).filter((ms) => !Number.isNaN(ms)));
}
