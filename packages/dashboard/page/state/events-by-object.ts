/** Groups events by the object they refer to. No I/O. */
import { type EventObject, eventTimeMs } from '../api/objects.ts';

const NONE: readonly EventObject[] = [];

/**
 * Events by UID of the object they refer to, oldest first. An object's list is replaced only if its events change, so that values computed
 * from the list can be cached.
 */
export class EventsByObject {
  #groups = new Map<string, EventObject[]>();
  #source: readonly EventObject[] | undefined;

  update(events: readonly EventObject[]): void {
    if (events === this.#source) return;
    this.#source = events;
    const groups = new Map<string, EventObject[]>();
    for (const event of events) {
      const uid = event.involvedObject?.uid ?? '';
      const group = groups.get(uid);
      if (group === undefined) groups.set(uid, [event]);
      else group.push(event);
    }
    for (const [uid, group] of groups) {
      const before = this.#groups.get(uid);
      group.sort((a, b) => eventTimeMs(a) - eventTimeMs(b));
      if (before !== undefined && before.length === group.length && before.every((one, index) => one === group[index]))
        groups.set(uid, before);
    }
    this.#groups = groups;
  }

  readonly of = (uid: string): readonly EventObject[] => this.#groups.get(uid) ?? NONE;
}
