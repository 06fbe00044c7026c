import type { ApiObject } from '@podwright/kube-kinds';
import type { ObjectKey, ObjectStore } from '../store/object-store.ts';
import type { Amounts } from './resources/resource-amounts.ts';

/** What an admitted write will use once it is in the store. */
export type Reservation = { key: ObjectKey; object: ApiObject; usage: Amounts };

/** A write follows its admission at once. If it fails, its reservation ends after this time. */
const LIFE_MS = 5000;

/** Counts what writes use between their admission and the write, so that concurrent writes cannot exceed a quota together. */
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

  /** The reservations of a resource in a namespace whose writes have not been made, except those for the object itself. */
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
