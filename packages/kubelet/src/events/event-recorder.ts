import { randomBytes } from 'node:crypto';
import { Broadcast, type Subscription } from '@podwright/base';
import type { Event, EventRecorder, EventSubject, EventType } from '../api/types.ts';
import { formatTime } from '../status/time.ts';

/** Events kept at most; the one that was not repeated for longest goes first. */
const maxEvents = 2000;
/** A message longer than this is cut, as the Kubernetes API does. */
const maxMessageLength = 1024;

/** Records what happens to pods: repeats are counted, memory is bounded, subscribers hear of each. */
export class PodEvents implements EventRecorder {
  readonly #host: string;
  readonly #now: () => number;
  readonly #events = new Map<string, Event>();
  readonly #changes = new Broadcast<Event>();

  constructor(nodeName: string, now: () => number = Date.now) {
    this.#host = nodeName;
    this.#now = now;
  }

  // biome-ignore lint/complexity/useMaxParams: the four words of an event, as Kubernetes' recorder takes them
  event(about: EventSubject, type: EventType, reason: string, message: string): void {
    const key = [about.uid, about.container, type, reason, message].join('\0');
    const known = this.#events.get(key);
    const event = known === undefined ? this.#newEvent(about, { type, reason, message }) : this.#repeat(known);
    this.#events.delete(key);
    this.#events.set(key, event);
    if (this.#events.size > maxEvents) this.#events.delete(this.#events.keys().next().value!);
    this.#changes.publish(event);
  }

  /** Every event that is still remembered, the latest last. */
  list(): Event[] {
    return [...this.#events.values()];
  }

  /** Events from this call on, until the signal aborts. */
  subscribe(signal: AbortSignal): Subscription<Event> {
    return this.#changes.subscribe(signal);
  }

  #newEvent(about: EventSubject, what: { type: EventType; reason: string; message: string }): Event {
    const time = formatTime(this.#now());
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${about.name}.${randomBytes(8).toString('hex')}`,
        namespace: about.namespace || 'default',
        uid: randomBytes(16).toString('hex'),
        creationTimestamp: time,
      },
      involvedObject: {
        apiVersion: 'v1',
        kind: about.kind,
        namespace: about.namespace,
        name: about.name,
        uid: about.uid,
        ...(about.container === undefined ? {} : { fieldPath: `spec.containers{${about.container}}` }),
      },
      type: what.type,
      reason: what.reason,
      message: what.message.slice(0, maxMessageLength),
      source: { component: 'kubelet', host: this.#host },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
  }

  #repeat(known: Event): Event {
    return { ...known, count: known.count + 1, lastTimestamp: formatTime(this.#now()) };
  }
}
