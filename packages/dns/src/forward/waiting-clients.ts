import { PodwrightError } from '@podwright/base';
import { MAX_WAITING, MAX_WAITING_PER_CLIENT } from './limits.ts';

/** The place of a question. `refused` is aborted, with `resource_exhausted`, if another client gets the place. */
export type Place = Disposable & { refused: AbortSignal };

/** Counts the questions that wait for resolvers, and divides the places among the clients. */
export class WaitingClients {
  #count = 0;
  /** The places of each client, the oldest first. */
  readonly #places = new Map<string, Set<AbortController>>();

  /**
   * Takes a place, which the result gives back. If there is none left, a client that would still have no more places than another takes the
   * oldest place of the client with the most. Throws `resource_exhausted` if there is no place.
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
