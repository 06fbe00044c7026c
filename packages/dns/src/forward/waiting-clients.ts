import { PodwrightError } from '@podwright/base';
import { MAX_WAITING, MAX_WAITING_PER_CLIENT } from './limits.ts';

/** Counts the questions that wait for resolvers. */
export class WaitingClients {
  #count = 0;
  readonly #counts = new Map<string, number>();

  /** Takes a place, which the result gives back. Throws `resource_exhausted` if there is none. */
  enter(client: string): Disposable {
    const own = this.#counts.get(client) ?? 0;
    if (this.#count >= MAX_WAITING || own >= MAX_WAITING_PER_CLIENT)
      throw new PodwrightError('resource_exhausted', 'too many questions wait for the resolvers');
    this.#count++;
    this.#counts.set(client, own + 1);
    return { [Symbol.dispose]: () => this.#leave(client) };
  }

  #leave(client: string): void {
    this.#count--;
    const left = this.#counts.get(client)! - 1;
    if (left === 0) this.#counts.delete(client);
    else this.#counts.set(client, left);
  }
}
