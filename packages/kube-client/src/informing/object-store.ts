import type { KubeObject } from '@podwright/kube-api';
import type { InformerChange } from '../informer.ts';
import { MAX_REMEMBERED_DELETIONS } from '../limits.ts';
import { compareVersions } from './resource-version.ts';

/**
 * Stores the latest known state of the objects selected by an informer. Methods that modify the store return the resulting changes in
 * order.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /** The last resource versions of recently deleted objects, by UID. */
  readonly #deleted = new Map<string, string | undefined>();

  get({ namespace, name }: { namespace?: string; name: string }): T | undefined {
    return this.#objects.get(`${namespace ?? ''}/${name}`);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /** Applies a watch event. Stale and repeated events have no effect. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): InformerChange<T>[] {
    const known = this.#objects.get(keyOf(object));
    if (type === 'DELETED') return known === undefined ? this.#missed(object) : this.#delete(known, object);
    return this.#put(known, object, isNewer);
  }

  /**
   * Replaces all objects with those of a new list. If `isRestart` is set, older resource versions are accepted too, because the server
   * might have been restored from a backup.
   */
  replace(objects: Iterable<T>, isRestart: boolean): InformerChange<T>[] {
    const wanted = new Map([...objects].map((object) => [keyOf(object), object]));
    if (isRestart) this.#deleted.clear();
    const missing = this.list().filter((known) => !wanted.has(keyOf(known)));
    return [
      ...missing.flatMap((known) => this.#delete(known, known)),
      ...[...wanted].flatMap(([key, object]) =>
        this.#put(this.#objects.get(key), object, isRestart ? isDifferent : isNewer),
      ),
    ];
  }

  #put(known: T | undefined, object: T, isAccepted: (known: T, object: T) => boolean): InformerChange<T>[] {
    if (known !== undefined && !isAccepted(known, object)) return [];
    if (known === undefined && this.#isLate(object)) return [];
    this.#objects.set(keyOf(object), object);
    if (known === undefined) return [{ type: 'ADDED', object }];
    if (isSame(known, object)) return [{ type: 'MODIFIED', object }];
    this.#remember(known);
    return [
      { type: 'DELETED', object: known },
      { type: 'ADDED', object },
    ];
  }

  #delete(known: T, object: T): InformerChange<T>[] {
    const isLate = (compareVersions(known.metadata.resourceVersion, object.metadata.resourceVersion) ?? 0) > 0;
    if (isLate) return this.#missed(object);
    this.#objects.delete(keyOf(known));
    this.#remember(known);
    this.#remember(object);
    return [{ type: 'DELETED', object: isSame(known, object) ? object : known }];
  }

  /**
   * Records the deletion of an object that is not in the store, or has already been replaced there by a newer object with the same name.
   */
  #missed(object: T): [] {
    this.#remember(object);
    return [];
  }

  /** Whether this state of the object predates its recorded deletion, because the event arrived late. */
  #isLate({ metadata: { uid = '', resourceVersion } }: T): boolean {
    return (
      uid !== '' && this.#deleted.has(uid) && (compareVersions(this.#deleted.get(uid), resourceVersion) ?? -1) >= 0
    );
  }

  #remember({ metadata: { uid = '', resourceVersion } }: T): void {
    if (uid === '') return;
    this.#deleted.delete(uid);
    this.#deleted.set(uid, resourceVersion);
    if (this.#deleted.size > MAX_REMEMBERED_DELETIONS) this.#deleted.delete(this.#deleted.keys().next().value!);
  }
}

/**
 * Whether `object` is newer than `known`, the state in the store. If their resource versions are not comparable, the state that arrives
 * last wins.
 */
function isNewer(known: KubeObject, object: KubeObject): boolean {
  return (compareVersions(known.metadata.resourceVersion, object.metadata.resourceVersion) ?? -1) < 0;
}

function isDifferent(known: KubeObject, object: KubeObject): boolean {
  return known.metadata.resourceVersion !== object.metadata.resourceVersion || !isSame(known, object);
}

/** Whether both are the same object, not just objects with the same name. */
function isSame(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid;
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}
