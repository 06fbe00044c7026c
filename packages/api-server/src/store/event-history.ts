import type { HistoryBounds, StoreEvent } from './object-store.ts';
import { ExpiredRevision } from './store-errors.ts';

/**
 * The recent events of a resource, in a ring buffer. Events are numbered from the start of the process; a watch holds the number of the
 * next event that it will read.
 */
export class EventHistory {
  readonly #resource: string;
  readonly #bounds: HistoryBounds;
  /** Event n is in slot n modulo `maxEvents`. */
  readonly #slots: (StoreEvent | undefined)[] = [];
  readonly #waiting = new Set<() => void>();
  #first = 0;
  #next = 0;
  #bytes = 0;
  /** The revision of the newest dropped event; before any is dropped, the initial revision. */
  #oldest: number;

  /** `begin`: a revision after which the resource has had no events yet. */
  constructor(resource: string, begin: number, bounds: HistoryBounds) {
    this.#resource = resource;
    this.#oldest = begin;
    this.#bounds = bounds;
  }

  /** The number of the next event. */
  get next(): number {
    return this.#next;
  }

  append(event: StoreEvent): void {
    while (this.#isFullFor(event)) this.#drop();
    this.#slots[this.#next % this.#bounds.maxEvents] = event;
    this.#next += 1;
    this.#bytes += retainedBytes(event);
  }

  /** Calls `wake` once, after the next events. Returns a function that cancels the call. */
  whenNext(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Wakes the waiting watches. Call it after appending all events of a transaction. */
  publish(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** The number of the first event after a revision. Throws `ExpiredRevision` if that event may have been dropped. */
  firstAfter(revision: number): number {
    if (revision < this.#oldest) throw new ExpiredRevision(this.#resource, { revision, oldest: this.#oldest });
    let low = this.#first;
    let high = this.#next;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#at(middle).object.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The events from a number on; undefined if some of them have been dropped. */
  from(number: number): StoreEvent[] | undefined {
    if (number < this.#first) return undefined;
    return Array.from({ length: this.#next - number }, (_, index) => this.#at(number + index));
  }

  /** Whether events must be dropped before this one. An event larger than the bound is retained alone, so that watches receive it. */
  #isFullFor(event: StoreEvent): boolean {
    const count = this.#next - this.#first;
    const { maxEvents, maxBytes } = this.#bounds;
    return count > 0 && (count >= maxEvents || this.#bytes + retainedBytes(event) > maxBytes);
  }

  #drop(): void {
    const event = this.#at(this.#first);
    this.#slots[this.#first % this.#bounds.maxEvents] = undefined;
    this.#first += 1;
    this.#bytes -= retainedBytes(event);
    this.#oldest = event.object.revision;
  }

  #at(number: number): StoreEvent {
    return this.#slots[number % this.#bounds.maxEvents]!;
  }
}

/** Bytes that only the history keeps in memory: replaced states, and the last states of deleted objects. */
function retainedBytes({ type, object, previous }: StoreEvent): number {
  return (previous?.bytes.length ?? 0) + (type === 'DELETED' ? object.bytes.length : 0);
}
