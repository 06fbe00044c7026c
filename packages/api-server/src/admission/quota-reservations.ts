import type { ObjectKey, ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';

/** An admitted write of an object. `oldObject` is the object that it replaces, if any. */
export type Reservation = { key: ObjectKey; object: ApiObject; oldObject?: ApiObject };

/** Tracks admitted writes that are not stored yet, so that concurrent writes cannot jointly exceed a quota. */
export class QuotaReservations {
  readonly #store: ObjectStore;
  readonly #pending = new Map<string, Reservation & { revision: number | undefined }>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /**
   * Replaces any reservation from an earlier attempt at the same write. The reservation expires on the next turn of the event loop: by
   * then, the write has been made or has failed.
   */
  add(reservation: Reservation): void {
    const { key } = reservation;
    const text = textOf(key);
    const pending = { ...reservation, revision: this.#store.get(key)?.revision };
    this.#pending.set(text, pending);
    setImmediate(() => {
      if (this.#pending.get(text) === pending) this.#pending.delete(text);
    });
  }

  /** Returns the pending reservations for the resource in the namespace, except the object's own. */
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
