import type { ObjectKey, ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Amounts } from './resources/resource-amounts.ts';

/** The usage that an admitted write will add once the object is stored. */
export type Reservation = { key: ObjectKey; object: ApiObject; usage: Amounts };

/** An admitted write normally follows immediately. If the write fails, its reservation expires after this time. */
const LIFE_MS = 5000;

/** Counts the usage of writes that have been admitted but not yet stored, so that concurrent writes cannot exceed a quota together. */
export class QuotaReservations {
  readonly #store: ObjectStore;
  readonly #now: () => number;
  readonly #pending = new Map<string, Reservation & { revision: number | undefined; untilMs: number }>();

  constructor(store: ObjectStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Replaces the reservation of an earlier attempt at the same write. */
  add(reservation: Reservation): void {
    const { key } = reservation;
    const revision = this.#store.get(key)?.revision;
    this.#pending.set(textOf(key), { ...reservation, revision, untilMs: this.#now() + LIFE_MS });
  }

  /**
   * Returns the reservations for the resource in the namespace whose writes have not been made yet, except for those of the object itself.
   */
  of({ resource, namespace, name }: ObjectKey): Reservation[] {
    this.#prune();
    return [...this.#pending.values()].filter(
      ({ key }) => key.resource === resource && key.namespace === namespace && key.name !== name,
    );
  }

  #prune(): void {
    for (const [text, { key, revision, untilMs }] of this.#pending)
      if (this.#store.get(key)?.revision !== revision || this.#now() > untilMs) this.#pending.delete(text);
  }
}

const textOf = ({ resource, namespace, name }: ObjectKey): string => `${resource} ${namespace}/${name}`;
