import { PodwrightError } from '@podwright/base';
import { MAX_WAITING, MAX_WAITING_PER_CLIENT } from './limits.ts';

/**
 * A slot for a question that waits for resolvers. `refused` aborts with `resource_exhausted` if the slot is reassigned to another client.
 */
export type Place = Disposable & { refused: AbortSignal };

/** Limits the questions waiting for resolvers, and shares the slots fairly among the clients. */
export class WaitingClients {
  #count = 0;
  /** The slots held by each client, oldest first. */
  readonly #places = new Map<string, Set<AbortController>>();

  /**
   * Acquires a slot, which is released when the result is disposed. If no slot is free, takes over the oldest slot of the client that has
   * the most, unless the caller would then have more slots than that client. Throws `resource_exhausted` if no slot is available.
   */
  enter(client: string): Place {
    const count = this.#places.get(client)?.size ?? 0;
    if (count >= MAX_WAITING_PER_CLIENT || (this.#count >= MAX_WAITING && !this.#takeFromLargest(count + 1)))
      throw exhausted();
    const place = new AbortController();
    const own = this.#places.get(client) ?? new Set();
    this.#places.set(client, own.add(place));
    this.#count++;
    return { refused: place.signal, [Symbol.dispose]: () => this.#leave(client, place) };
  }

  #takeFromLargest(count: number): boolean {
    let largest: [client: string, places: Set<AbortController>] | undefined;
    for (const entry of this.#places) if (entry[1].size > (largest?.[1].size ?? count)) largest = entry;
    if (largest === undefined) return false;
    const [client, places] = largest;
    const [oldest] = places;
    this.#leave(client, oldest!);
    oldest!.abort(exhausted());
    return true;
  }

  #leave(client: string, place: AbortController): void {
    const places = this.#places.get(client);
    if (places?.delete(place) !== true) return; // another client has the place
    this.#count--;
    if (places.size === 0) this.#places.delete(client);
  }
}

const exhausted = () => new PodwrightError('resource_exhausted', 'too many questions wait for the resolvers');
