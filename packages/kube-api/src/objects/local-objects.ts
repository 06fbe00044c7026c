import { Broadcast, type Subscription } from '@podwright/base';
import type { LocalObject, Pod } from './types.ts';

export type LocalObjectKind = LocalObject['kind'];
export type LocalObjectOf<K extends LocalObjectKind> = Extract<LocalObject, { kind: K }>;

/** Read-only access to local objects. The namespace of RuntimeClasses is ''. */
export interface ObjectLookup {
  /** Returns `undefined` if the object does not exist. Throws `unavailable` until the API server has responded. */
  get<K extends LocalObjectKind>(kind: K, namespace: string, name: string): LocalObjectOf<K> | undefined;
}

/**
 * Provides the objects referred to by a pod: from the node's own objects for pods from manifests, from the API server for pods from an API
 * server.
 */
export interface PodObjects {
  of(pod: Pod): ObjectLookup;
}

/** A change to one local object. `object` is absent if the object was removed. */
export type LocalObjectChange = {
  kind: LocalObjectKind;
  namespace: string;
  name: string;
  object?: LocalObject;
  /** UIDs of the pods that use the changed object, if known. */
  users?: ReadonlySet<string>;
};

/** A change as seen by watchers. DELETED carries the last state of the object. */
export type LocalObjectEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: LocalObject };

/** Returns the key under which an object is stored. It is also used in messages. */
export function localObjectKey(kind: LocalObjectKind, namespace: string, name: string): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

/** The node's local objects, as defined in manifests. */
export class LocalObjects implements ObjectLookup, PodObjects {
  #objects = new Map<string, LocalObject>();
  readonly #listeners = new Set<(change: LocalObjectChange) => void>();
  readonly #events = new Broadcast<LocalObjectEvent>();
  /** The version of each object, by key. Versions come from a change counter shared by all objects. */
  readonly #versions = new Map<string, number>();
  #version = 0;

  /** Returns this store itself, whatever the pod, because all pods from manifests share the node's objects. */
  of(): ObjectLookup {
    return this;
  }

  /** Returns all objects, with their version as `resourceVersion`. */
  list(): LocalObject[] {
    return [...this.#objects].map(([key, object]) => withVersion(object, this.#versions.get(key)!));
  }

  /** Subscribes to changes made after this call, until the signal is aborted. */
  subscribe(signal: AbortSignal): Subscription<LocalObjectEvent> {
    return this.#events.subscribe(signal);
  }

  get<K extends LocalObjectKind>(kind: K, namespace: string, name: string): LocalObjectOf<K> | undefined {
    return this.#objects.get(localObjectKey(kind, namespace, name)) as LocalObjectOf<K> | undefined;
  }

  /** Replaces all objects and notifies listeners of the differences. */
  replace(objects: readonly LocalObject[]): void {
    const before = this.#objects;
    this.#objects = new Map(objects.map((object) => [keyOf(object), object]));
    const changed = [...this.#objects].filter(
      ([key, object]) => JSON.stringify(before.get(key)) !== JSON.stringify(object),
    );
    const removed = [...before].filter(([key]) => !this.#objects.has(key));
    // listeners may call `list`, so set all versions first
    for (const [key] of changed) this.#versions.set(key, ++this.#version);
    for (const [key, object] of changed) this.#notify(before.has(key) ? 'MODIFIED' : 'ADDED', object);
    for (const [, object] of removed) this.#notify('DELETED', object);
    for (const [key] of removed) this.#versions.delete(key);
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
