import { formatTime, type KubeObject, type Resource } from '@podwright/kube-api';
import { compareVersions, type Informer, type InformerChange } from '@podwright/kube-client';
import { type ObjectPlace, placeText } from './object-place.ts';

/** A change to a cached object. `before` is the object's previous state in the cache. */
export type ObjectChange<T extends KubeObject> = InformerChange<T> & { before?: T };

type StartInformer<T extends KubeObject> = (options: {
  resource: Resource;
  onChange: (change: InformerChange<T>) => void;
  onProgress: (resourceVersion: string) => void;
}) => Informer<T>;

/**
 * All objects of a resource, as last reported by the informer or, if that is newer, as written by this process. A controller therefore sees
 * its own writes at once, and needs no expectations (client-go's `ControllerExpectations`).
 *
 * A write by this process is dropped once the informer has reached its resource version. All objects of a server share one resource version
 * counter (Kubernetes 1.35, KEP-5504).
 */
export class ObjectCache<T extends KubeObject> {
  readonly synced: Promise<void>;
  readonly #informer: Informer<T>;
  /** Objects as written by this process, for writes that the informer has not reported yet. */
  readonly #written = new Map<string, T>();
  /** UIDs of objects that this process has deleted and the informer still reports without a deletion timestamp. */
  readonly #deleting = new Set<string>();
  readonly #byNamespace = new Map<string, Map<string, T>>();
  /** Objects by controller, keyed by namespace and controller UID (`ownerKey`). */
  readonly #byOwner = new Map<string, Map<string, T>>();
  readonly #listeners = new Set<(change: ObjectChange<T>) => void>();
  /** The resource version up to which the informer has reported all changes. */
  #reached = '0';

  constructor(resource: Resource, startInformer: StartInformer<T>) {
    this.#informer = startInformer({
      resource,
      onChange: (change) => this.#changed(change),
      onProgress: (version) => this.#progressed(version),
    });
    this.synced = this.#informer.synced;
  }

  get({ namespace = '', name }: ObjectPlace): T | undefined {
    return this.#byNamespace.get(namespace)?.get(name);
  }

  /** Returns the objects in a namespace, or all objects if no namespace is given. */
  list(namespace?: string): T[] {
    if (namespace !== undefined) return [...(this.#byNamespace.get(namespace)?.values() ?? [])];
    return [...this.#byNamespace.values()].flatMap((objects) => [...objects.values()]);
  }

  /**
   * Returns the objects in the namespace whose controller (the owner reference with `controller: true`) has this UID. Objects in other
   * namespaces can refer to the UID too, but an owner and its objects are always in the same namespace.
   */
  controlledBy(namespace: string, uid: string): T[] {
    return [...(this.#byOwner.get(ownerKey(namespace, uid))?.values() ?? [])];
  }

  /**
   * Returns the objects that the controller with this UID owns or can adopt: its own, and those in the namespace that have no controller.
   */
  claimable(namespace: string, uid: string): T[] {
    return [...this.controlledBy(namespace, uid), ...this.controlledBy(namespace, NO_OWNER)];
  }

  /** Calls the listener immediately for all existing objects, and then for each change, including writes by this process. */
  onChange(listener: (change: ObjectChange<T>) => void): void {
    this.#listeners.add(listener);
    for (const object of this.list()) listener({ type: 'ADDED', object });
  }

  /** Adds the object in the server's response to a create, update or patch by this process. */
  written(object: T): void {
    const { resourceVersion } = object.metadata;
    if (isAtLeast(this.#reached, resourceVersion)) return; // the informer has reported this state or a newer one
    const known = this.get(placeOf(object));
    if (known !== undefined && isAtLeast(known.metadata.resourceVersion, resourceVersion)) return;
    this.#written.set(placeText(placeOf(object)), object);
    this.#put(object);
  }

  /** Marks an object as deleted by this process, until the informer reports its deletion timestamp or its removal. */
  deleting(place: ObjectPlace, uid: string): void {
    const known = this.get(place);
    if (known?.metadata.uid !== uid || known.metadata.deletionTimestamp !== undefined) return;
    this.#deleting.add(uid);
    this.#put(known);
  }

  stop(): void {
    this.#informer.stop();
  }

  #changed({ type, object }: InformerChange<T>): void {
    const key = placeText(placeOf(object));
    const own = this.#written.get(key);
    const isOwnNewer =
      own !== undefined && (compareVersions(own.metadata.resourceVersion, object.metadata.resourceVersion) ?? -1) > 0;
    if (isOwnNewer) return;
    this.#written.delete(key);
    const known = this.get(placeOf(object))?.metadata.resourceVersion;
    if (type !== 'DELETED' && known !== undefined && known === object.metadata.resourceVersion) return;
    if (type === 'DELETED') this.#remove(object);
    else this.#put(object);
  }

  /**
   * Drops writes by this process that are not newer than `version`. The informer's state takes their place and includes later changes by
   * other clients.
   */
  #progressed(version: string): void {
    this.#reached = version;
    for (const [key, object] of this.#written) {
      if (!isAtLeast(version, object.metadata.resourceVersion)) continue;
      this.#written.delete(key);
      const current = this.#informer.get(placeOf(object));
      if (current === undefined) this.#remove(object);
      else if (current.metadata.resourceVersion !== object.metadata.resourceVersion) this.#put(current);
    }
  }

  #put(reported: T): void {
    const object = this.#withDeletion(reported);
    const { namespace = '', name } = placeOf(object);
    const known = this.get({ namespace, name });
    const isReplaced = known !== undefined && known.metadata.uid !== object.metadata.uid;
    if (isReplaced) this.#remove(known);
    const before = isReplaced ? undefined : known;
    const objects = this.#byNamespace.get(namespace) ?? new Map<string, T>();
    this.#byNamespace.set(namespace, objects);
    objects.set(name, object);
    if (before !== undefined) this.#unindex(before);
    this.#index(object);
    this.#report({ type: before === undefined ? 'ADDED' : 'MODIFIED', object, before });
  }

  #remove(object: T): void {
    const { namespace = '', name } = placeOf(object);
    const objects = this.#byNamespace.get(namespace);
    const before = objects?.get(name);
    if (objects === undefined || before === undefined) return;
    objects.delete(name);
    if (objects.size === 0) this.#byNamespace.delete(namespace);
    this.#unindex(before);
    this.#deleting.delete(before.metadata.uid ?? '');
    this.#report({ type: 'DELETED', object, before });
  }

  /** Returns the object, with a deletion timestamp if this process has deleted it and the informer has not reported that yet. */
  #withDeletion(object: T): T {
    const { uid = '', deletionTimestamp } = object.metadata;
    if (!this.#deleting.has(uid)) return object;
    if (deletionTimestamp === undefined)
      return { ...object, metadata: { ...object.metadata, deletionTimestamp: formatTime(Date.now()) } };
    this.#deleting.delete(uid);
    return object;
  }

  #index(object: T): void {
    const owner = ownerKeyOf(object);
    const owned = this.#byOwner.get(owner) ?? new Map<string, T>();
    this.#byOwner.set(owner, owned);
    owned.set(placeText(placeOf(object)), object);
  }

  #unindex(object: T): void {
    const owner = ownerKeyOf(object);
    const owned = this.#byOwner.get(owner);
    owned?.delete(placeText(placeOf(object)));
    if (owned?.size === 0) this.#byOwner.delete(owner);
  }

  #report(change: ObjectChange<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function placeOf({ metadata: { namespace = '', name = '' } }: KubeObject): ObjectPlace {
  return { namespace, name };
}

/** The controller UID under which objects without a controller are indexed. */
const NO_OWNER = '';

function ownerKeyOf({ metadata: { namespace = '', ownerReferences = [] } }: KubeObject): string {
  return ownerKey(namespace, ownerReferences.find(({ controller }) => controller === true)?.uid ?? NO_OWNER);
}

/** Returns the index key for objects of a controller. It is unambiguous, because namespaces contain no slash. */
function ownerKey(namespace: string, uid: string): string {
  return `${namespace}/${uid}`;
}

function isAtLeast(version: string | undefined, other: string | undefined): boolean {
  return (compareVersions(version, other) ?? -1) >= 0;
}
