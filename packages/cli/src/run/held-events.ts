import type { Event } from '@podwright/kube-api';

const MAX_EVENTS = 1000;

/**
 * Holds events of objects that `podwright run` may have created but has not seen yet. The node sends events and pods over separate
 * connections, so the first event of a workload's pod may arrive before the pod.
 */
export class HeldEvents {
  readonly #events: Event[] = [];

  /** Holds an event until `take` is called; drops the oldest one if there are too many. */
  hold(event: Event): void {
    this.#events.push(event);
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
  }

  /** Removes an object's events and returns them, oldest first. */
  take(uid: string): Event[] {
    const taken = this.#events.filter(({ involvedObject }) => involvedObject.uid === uid);
    for (const event of taken) this.#events.splice(this.#events.indexOf(event), 1);
    return taken;
  }
}
