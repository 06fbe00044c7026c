import { randomBytes } from 'node:crypto';
import { Broadcast, type Subscription } from '@podwright/base';
import type { Event, EventType } from '../objects/types.ts';
import { formatTime } from '../values/time.ts';
import { MAX_EVENT_MESSAGE_LENGTH, MAX_SIMILAR_EVENTS, SIMILAR_EVENTS_WINDOW_MS } from './event-limits.ts';
import type { EventRecorder, EventSubject, RecordedEvent } from './event-recorder.ts';

/** Maximum number of events kept in memory. The event whose last occurrence is oldest is evicted first. */
const MAX_EVENTS = 2000;

const COMBINED_PREFIX = '(combined from similar events): ';

/** Records events in bounded memory, counts repeats, and notifies subscribers. */
export class PodEvents implements EventRecorder {
  readonly #host: string;
  readonly #now: () => number;
  readonly #events = new Map<string, { event: Event; group: string }>();
  /** Keys of events that differ only in their message, by group. A group is an object, type and reason. */
  readonly #similar = new Map<string, Set<string>>();
  readonly #changes = new Broadcast<Event>();
  readonly #listeners = new Set<(event: RecordedEvent) => void>();

  constructor(nodeName: string, now: () => number = Date.now) {
    this.#host = nodeName;
    this.#now = now;
  }

  // biome-ignore lint/complexity/useMaxParams: the signature of upstream's EventRecorder
  event(about: EventSubject, type: EventType, reason: string, message: string): void {
    const group = [about.uid, about.fieldPath, type, reason].join('\0');
    const own = message.slice(0, MAX_EVENT_MESSAGE_LENGTH);
    const combined = !this.#events.has(`${group}\0${own}`) && this.#isSpam(group);
    const shown = combined ? `${COMBINED_PREFIX}${own}`.slice(0, MAX_EVENT_MESSAGE_LENGTH) : own;
    const key = combined ? `${group}\0\0` : `${group}\0${own}`;
    const known = this.#events.get(key)?.event;
    const event =
      known === undefined ? this.#newEvent(about, { type, reason, message: shown }) : this.#repeat(known, shown);
    this.#events.delete(key);
    this.#events.set(key, { event, group });
    if (known === undefined && !combined) this.#groupOf(group).add(key);
    if (this.#events.size > MAX_EVENTS) this.#evict(this.#events.keys().next().value!);
    this.#changes.publish(event);
    for (const listener of this.#listeners) listener({ about, type, reason, message, atMs: this.#now() });
  }

  #groupOf(group: string): Set<string> {
    const keys = this.#similar.get(group) ?? new Set();
    this.#similar.set(group, keys);
    return keys;
  }

  /**
   * Whether a group of similar events (same object, type and reason) has had so many distinct messages recently that further ones are
   * combined.
   */
  #isSpam(group: string): boolean {
    const since = this.#now() - SIMILAR_EVENTS_WINDOW_MS;
    const lately = [...(this.#similar.get(group) ?? [])].filter(
      (key) => Date.parse(this.#events.get(key)!.event.lastTimestamp) > since,
    );
    return lately.length >= MAX_SIMILAR_EVENTS;
  }

  #evict(key: string): void {
    const group = this.#events.get(key)!.group;
    this.#events.delete(key);
    const keys = this.#similar.get(group);
    keys?.delete(key);
    if (keys?.size === 0) this.#similar.delete(group);
  }

  /** All events in memory, most recent last. */
  list(): Event[] {
    return [...this.#events.values()].map(({ event }) => event);
  }

  /** Subscribes to events recorded after this call, until the signal is aborted. */
  subscribe(signal: AbortSignal): Subscription<Event> {
    return this.#changes.subscribe(signal);
  }

  /** Calls the listener for each recorded event. The returned function unsubscribes. */
  listen(listener: (event: RecordedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
        ...(about.annotations === undefined ? {} : { annotations: about.annotations }),
      },
      involvedObject: {
        apiVersion: 'v1',
        kind: about.kind,
        namespace: about.namespace,
        name: about.name,
        uid: about.uid,
        ...(about.fieldPath === undefined ? {} : { fieldPath: about.fieldPath }),
      },
      type: what.type,
      reason: what.reason,
      message: what.message,
      source: { component: 'kubelet', host: this.#host },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
  }

  #repeat(known: Event, message: string): Event {
    return { ...known, message, count: known.count + 1, lastTimestamp: formatTime(this.#now()) };
  }
}
