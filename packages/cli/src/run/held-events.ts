import type { Event } from '@podwright/kube-api';

const MAX_EVENTS = 1000;

/**
 * Events of objects that may belong to the run but are not known yet. The node sends events and pods over separate connections, so the
 * first event of a workload's pod may arrive before the pod.
 */
export class HeldEvents {
  readonly #events: Event[] = [];

  /** Keeps an event; the oldest one is dropped if there are too many. */
  hold(event: Event): void {
    this.#events.push(event);
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
  }

  /** Returns the events of an object, oldest first, and forgets them. */
  take(uid: string): Event[] {
    const taken = this.#events.filter(({ involvedObject }) => involvedObject.uid === uid);
    for (const event of taken) this.#events.splice(this.#events.indexOf(event), 1);
    return taken;
  }
}
