/** Groups events by the object they refer to. No I/O. */
import { type EventObject, eventTimeMs } from '../api/objects.ts';

/** The events of one object: in the order in which they were passed to `update`, and sorted by time. */
type Group = { given: EventObject[]; sorted: readonly EventObject[] };

const NONE: readonly EventObject[] = [];

/**
 * Events by UID of the object they refer to, oldest first. An object's list is replaced only if its events change, so that values computed
 * from the list can be cached. Other lists are not sorted again either, because on a busy cluster some event changes in every frame.
 */
export class EventsByObject {
  #groups = new Map<string, Group>();
  #source: readonly EventObject[] | undefined;

  update(events: readonly EventObject[]): void {
    if (events === this.#source) return;
    this.#source = events;
    const groups = new Map<string, Group>();
    for (const event of events) {
      const uid = event.involvedObject?.uid ?? '';
      const group = groups.get(uid);
      if (group === undefined) groups.set(uid, { given: [event], sorted: NONE });
      else group.given.push(event);
    }
    for (const [uid, group] of groups) {
      const before = this.#groups.get(uid);
      if (before !== undefined && areSame(before.given, group.given)) groups.set(uid, before);
      else group.sorted = oldestFirst(group.given);
    }
    this.#groups = groups;
  }

  readonly of = (uid: string): readonly EventObject[] => this.#groups.get(uid)?.sorted ?? NONE;
}

const areSame = (a: readonly EventObject[], b: readonly EventObject[]): boolean =>
  a.length === b.length && a.every((one, index) => one === b[index]);

function oldestFirst(events: readonly EventObject[]): readonly EventObject[] {
  const times = new Map(events.map((event) => [event, eventTimeMs(event)]));
  return events.toSorted((a, b) => times.get(a)! - times.get(b)!);
}
