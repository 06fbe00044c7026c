import type { HistoryBounds, StoreEvent } from './object-store.ts';
import { ExpiredRevision } from './store-errors.ts';

type TimedEvent = { event: StoreEvent; atMs: number };

/**
 * Ring buffer of a resource's recent events. Events are numbered from the start of the process; each watch tracks the number of its next
 * event. Events are published once their write is durable. Watches only read published events.
 */
export class EventHistory {
  readonly #resource: string;
  readonly #bounds: HistoryBounds;
  /** Ring buffer: event n is stored in slot n modulo `maxEvents`. */
  readonly #slots: (TimedEvent | undefined)[] = [];
  readonly #waiting = new Set<() => void>();
  #first = 0;
  #next = 0;
  /** The number of the first event that is not published yet, or of the next event if all are published. */
  #published = 0;
  #bytes = 0;
  /** The revision of the last dropped event. Initially `begin`. */
  #oldest: number;

  /** `begin`: a revision after which the resource has had no events so far. */
  constructor(resource: string, begin: number, bounds: HistoryBounds) {
    this.#resource = resource;
    this.#oldest = begin;
    this.#bounds = bounds;
  }

  /** The number of the first unpublished event, or of the next event if all are published. */
  get published(): number {
    return this.#published;
  }

  append(event: StoreEvent): void {
    while (this.#isFullFor(event)) this.#drop();
    this.#slots[this.#next % this.#bounds.maxEvents] = { event, atMs: performance.now() };
    this.#next += 1;
    this.#bytes += retainedBytes(event);
  }

  /** Drops published events older than `maxAgeMs`. */
  dropOld(): void {
    const { maxAgeMs = Number.POSITIVE_INFINITY, maxEvents } = this.#bounds;
    const fromMs = performance.now() - maxAgeMs;
    while (this.#first < this.#published && this.#slots[this.#first % maxEvents]!.atMs < fromMs) this.#drop();
  }

  /** Calls `wake` once when the next events are published. Returns a function that cancels this. */
  whenNext(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Publishes the events up to a revision and wakes the waiting watches. Returns whether all events are published. */
  publish(revision: number): boolean {
    const published = this.#numberAfter(revision);
    const isMore = published > this.#published;
    this.#published = published;
    if (isMore) {
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const wake of waiting) wake();
    }
    return published === this.#next;
  }

  /** Returns the number of the first event after a revision. Throws `ExpiredRevision` if that event might have been dropped. */
  firstAfter(revision: number): number {
    if (revision < this.#oldest) throw new ExpiredRevision(this.#resource, { revision, oldest: this.#oldest });
    return this.#numberAfter(revision);
  }

  /** Returns the number of the first retained event after a revision, or of the next event if there is none. */
  #numberAfter(revision: number): number {
    let low = this.#first;
    let high = this.#next;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#at(middle).object.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns all events from a number on, or `undefined` if some of them have been dropped. */
  from(number: number): StoreEvent[] | undefined {
    return this.#between(number, this.#next);
  }

  /** Returns the published events from a number on, or `undefined` if some of them have been dropped. */
  publishedFrom(number: number): StoreEvent[] | undefined {
    return this.#between(number, this.#published);
  }

  #between(number: number, end: number): StoreEvent[] | undefined {
    if (number < this.#first) return undefined;
    return Array.from({ length: Math.max(0, end - number) }, (_, index) => this.#at(number + index));
  }

  /**
   * Whether the oldest event must be dropped to make room for this one. An event larger than `maxBytes` is still retained, as the only one,
   * so that watches receive it. Unpublished events are only dropped because of their number, not their size.
   */
  #isFullFor(event: StoreEvent): boolean {
    const count = this.#next - this.#first;
    const { maxEvents, maxBytes } = this.#bounds;
    if (count === 0) return false;
    const isTooLarge = this.#bytes + retainedBytes(event) > maxBytes;
    return count >= maxEvents || (isTooLarge && this.#first < this.#published);
  }

  #drop(): void {
    const event = this.#at(this.#first);
    this.#slots[this.#first % this.#bounds.maxEvents] = undefined;
    this.#first += 1;
    this.#bytes -= retainedBytes(event);
    this.#oldest = event.object.revision;
  }

  #at(number: number): StoreEvent {
    return this.#slots[number % this.#bounds.maxEvents]!.event;
  }
}

/**
 * Returns the memory that the history uses for an event: the size of the replaced object, or of the last version of a deleted object.
 * Current objects are in memory anyway.
 */
function retainedBytes({ type, object, previous }: StoreEvent): number {
  return (previous?.bytes.length ?? 0) + (type === 'DELETED' ? object.bytes.length : 0);
}
