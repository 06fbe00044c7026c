import { Broadcast, type Subscription } from '@podwright/base';
import type { LocalObject, Pod } from './types.ts';

export type LocalObjectKind = LocalObject['kind'];
export type LocalObjectOf<K extends LocalObjectKind> = Extract<LocalObject, { kind: K }>;

/** Read access to ConfigMaps, Secrets and RuntimeClasses. RuntimeClasses have the namespace ''. */
export interface ObjectLookup {
  /** Undefined where there is none. Throws `unavailable` where that is not known, as an API server has not told yet. */
  get<K extends LocalObjectKind>(kind: K, namespace: string, name: string): LocalObjectOf<K> | undefined;
}

/** Where pods have the objects from that they refer to: those of manifests from the node, those of an API server from it. */
export interface PodObjects {
  of(pod: Pod): ObjectLookup;
}

/** What changed about one object; `object` is absent once it is gone. */
export type LocalObjectChange = {
  kind: LocalObjectKind;
  namespace: string;
  name: string;
  object?: LocalObject;
  /** UIDs of the pods that use it, where they are known. */
  users?: ReadonlySet<string>;
};

/** A change as watchers see it: what went is told as it was last. */
export type LocalObjectEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: LocalObject };

/** Identifies an object within the store; also the form in which users see it. */
export function localObjectKey(kind: LocalObjectKind, namespace: string, name: string): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

/** The node's ConfigMaps, Secrets and RuntimeClasses, each set by the source that holds its file. */
export class LocalObjects implements ObjectLookup, PodObjects {
  #objects = new Map<string, LocalObject>();
  readonly #listeners = new Set<(change: LocalObjectChange) => void>();
  readonly #events = new Broadcast<LocalObjectEvent>();
  /** Of each object, by its key: they grow by one a change, across all objects. */
  readonly #versions = new Map<string, number>();
  #version = 0;

  /** The same for all pods. */
  of(): ObjectLookup {
    return this;
  }

  /** Every object, with its version as `resourceVersion`. */
  list(): LocalObject[] {
    return [...this.#objects].map(([key, object]) => withVersion(object, this.#versions.get(key)!));
  }

  /** Changes from this call on, until the signal aborts. */
  subscribe(signal: AbortSignal): Subscription<LocalObjectEvent> {
    return this.#events.subscribe(signal);
  }

  get<K extends LocalObjectKind>(kind: K, namespace: string, name: string): LocalObjectOf<K> | undefined {
    return this.#objects.get(localObjectKey(kind, namespace, name)) as LocalObjectOf<K> | undefined;
  }

  /** Takes the full set of objects and notifies the listeners of what differs from the set before. */
  replace(objects: readonly LocalObject[]): void {
    const before = this.#objects;
    this.#objects = new Map(objects.map((object) => [keyOf(object), object]));
    const changed = [...this.#objects].filter(
      ([key, object]) => JSON.stringify(before.get(key)) !== JSON.stringify(object),
    );
    const gone = [...before].filter(([key]) => !this.#objects.has(key));
    // listeners may list, and then every version must be there
    for (const [key] of changed) this.#versions.set(key, ++this.#version);
    for (const [key, object] of changed) this.#notify(before.has(key) ? 'MODIFIED' : 'ADDED', object);
    for (const [, object] of gone) this.#notify('DELETED', object);
    for (const [key] of gone) this.#versions.delete(key);
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: (change: LocalObjectChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(type: LocalObjectEvent['type'], object: LocalObject): void {
    const { namespace, name } = object.metadata;
    const change: LocalObjectChange = {
      kind: object.kind,
      namespace,
      name,
      ...(type === 'DELETED' ? {} : { object }),
    };
    for (const listener of this.#listeners) listener(change);
    this.#events.publish({ type, object: withVersion(object, this.#versions.get(keyOf(object))!) });
  }
}

function withVersion<T extends LocalObject>(object: T, version: number): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

function keyOf({ kind, metadata }: LocalObject): string {
  return localObjectKey(kind, metadata.namespace, metadata.name);
}
