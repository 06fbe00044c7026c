import type { SpaceBounds, SpaceClass, StoreEvent, Write } from './object-store.ts';
import { OutOfSpace } from './store-errors.ts';

/** The reserve is `maxBytes` divided by this number. */
const RESERVE_SHARE = 8;

/** Tracks the size of the stored objects and rejects writes that would exceed a limit. */
export class Space {
  readonly #bounds: SpaceBounds | undefined;
  #bytes = 0;
  #isFull = false;

  constructor(bounds: SpaceBounds | undefined) {
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts an object that already exists when the store is opened. */
  load(bytes: number): void {
    this.#bytes += bytes;
  }

  apply(events: readonly StoreEvent[]): void {
    for (const event of events) this.#bytes += growthOf(event);
  }

  /** Throws `OutOfSpace` if the writes would exceed a limit. `events`: the events that the writes will cause. */
  check(writes: readonly Write[], events: readonly StoreEvent[]): void {
    const bounds = this.#bounds;
    if (bounds === undefined) return;
    let bytes = this.#bytes;
    for (const [index, event] of events.entries()) {
      const write = writes[index]!;
      const space = write.type === 'delete' ? undefined : write.space;
      const growth = growthOf(event);
      bytes += growth;
      if (space === undefined || growth <= 0) continue;
      checkObject(event, bounds.maxObjectBytes, space);
      if (bytes > limitOf(bounds, space)) this.#refuse(bounds);
      if (bytes < bounds.maxBytes * (1 - 1 / RESERVE_SHARE)) this.#isFull = false;
    }
  }

  #refuse({ maxBytes, onFull }: SpaceBounds): never {
    if (!this.#isFull) onFull?.({ bytes: this.#bytes, maxBytes });
    this.#isFull = true;
    const message = `etcdserver: mvcc: database space exceeded: all objects together have ${this.#bytes} bytes, and ${maxBytes} is the limit; delete some objects`;
    throw new OutOfSpace(message);
  }
}

function checkObject({ object }: StoreEvent, maxBytes: number, space: SpaceClass): void {
  const { length } = object.bytes;
  if (space === 'unbounded' || length <= maxBytes) return;
  const message = `etcdserver: request is too large: the object would have ${length} bytes with its managed fields, and ${maxBytes} is the limit`;
  throw new OutOfSpace(message);
}

function limitOf({ maxBytes }: SpaceBounds, space: SpaceClass): number {
  const reserve = maxBytes / RESERVE_SHARE;
  switch (space) {
    case 'ordinary':
      return maxBytes;
    case 'half-reserve':
      return maxBytes + reserve / 2;
    case 'reserve':
      return maxBytes + reserve;
    case 'unbounded':
      return Number.POSITIVE_INFINITY;
  }
}

function growthOf({ type, object, previous }: StoreEvent): number {
  const before = previous?.bytes.length ?? 0;
  return (type === 'DELETED' ? 0 : object.bytes.length) - before;
}
