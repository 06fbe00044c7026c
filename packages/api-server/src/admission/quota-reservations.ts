import type { ObjectKey, ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Amounts } from './resources/resource-amounts.ts';

/** The usage that an admitted write will add once the object is stored. */
export type Reservation = { key: ObjectKey; object: ApiObject; usage: Amounts };

/** Counts the usage of writes that have been admitted but not yet stored, so that concurrent writes cannot exceed a quota together. */
export class QuotaReservations {
  readonly #store: ObjectStore;
  readonly #pending = new Map<string, Reservation & { revision: number | undefined }>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Replaces the reservation of an earlier attempt at the same write. An admitted write follows, or fails, before the event loop continues. */
  add(reservation: Reservation): void {
    const { key } = reservation;
    const text = textOf(key);
    const pending = { ...reservation, revision: this.#store.get(key)?.revision };
    this.#pending.set(text, pending);
    setImmediate(() => {
      if (this.#pending.get(text) === pending) this.#pending.delete(text);
    });
  }

  /**
   * Returns the reservations for the resource in the namespace whose writes have not been made yet, except for those of the object itself.
   */
  of({ resource, namespace, name }: ObjectKey): Reservation[] {
    return [...this.#pending.values()].filter(
      ({ key, revision }) =>
        key.resource === resource &&
        key.namespace === namespace &&
        key.name !== name &&
        this.#store.get(key)?.revision === revision,
    );
  }
}

const textOf = ({ resource, namespace, name }: ObjectKey): string => `${resource} ${namespace}/${name}`;
