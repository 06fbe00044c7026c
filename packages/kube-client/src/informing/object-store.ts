import type { KubeObject } from '@podwright/kube-api';
import type { InformerChange } from '../informer.ts';
import { MAX_REMEMBERED_DELETIONS } from '../limits.ts';
import { compareVersions } from './resource-version.ts';

/** The objects of a selection as they were last. Every method gives what has changed by it, in order. */
export class ObjectStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /** Versions of the last objects that are gone, by their UIDs. */
  readonly #gone = new Map<string, string | undefined>();

  get({ namespace, name }: { namespace?: string; name: string }): T | undefined {
    return this.#objects.get(`${namespace ?? ''}/${name}`);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /** An event of a watch; one that is older than what is known, or a repeat of it, changes nothing. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): InformerChange<T>[] {
    const known = this.#objects.get(keyOf(object));
    if (type === 'DELETED') return known === undefined ? this.#missed(object) : this.#delete(known, object);
    return this.#put(known, object, isNews);
  }

  /**
   * All there is, read anew. Where `isRestart` is set older versions are taken, too: the server may have gone back to a backup.
   */
  replace(objects: Iterable<T>, isRestart: boolean): InformerChange<T>[] {
    const wanted = new Map([...objects].map((object) => [keyOf(object), object]));
    if (isRestart) this.#gone.clear();
    const gone = this.list().filter((known) => !wanted.has(keyOf(known)));
    return [
      ...gone.flatMap((known) => this.#delete(known, known)),
      ...[...wanted].flatMap(([key, object]) =>
        this.#put(this.#objects.get(key), object, isRestart ? isDifferent : isNews),
      ),
    ];
  }

  #put(known: T | undefined, object: T, isTaken: (known: T, object: T) => boolean): InformerChange<T>[] {
    if (known !== undefined && !isTaken(known, object)) return [];
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

  /** The end of an object that is not known, or of an earlier one of that name. */
  #missed(object: T): [] {
    this.#remember(object);
    return [];
  }

  /** News of an object from before its end. */
  #isLate({ metadata: { uid = '', resourceVersion } }: T): boolean {
    return uid !== '' && this.#gone.has(uid) && (compareVersions(this.#gone.get(uid), resourceVersion) ?? -1) >= 0;
  }

  #remember({ metadata: { uid = '', resourceVersion } }: T): void {
    if (uid === '') return;
    this.#gone.delete(uid);
    this.#gone.set(uid, resourceVersion);
    if (this.#gone.size > MAX_REMEMBERED_DELETIONS) this.#gone.delete(this.#gone.keys().next().value!);
  }
}

/** Where versions have no order, what comes later is newer. */
function isNews(known: KubeObject, object: KubeObject): boolean {
  return (compareVersions(known.metadata.resourceVersion, object.metadata.resourceVersion) ?? -1) < 0;
}

function isDifferent(known: KubeObject, object: KubeObject): boolean {
  return known.metadata.resourceVersion !== object.metadata.resourceVersion || !isSame(known, object);
}

/** Not another object of the same name. */
function isSame(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid;
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}
