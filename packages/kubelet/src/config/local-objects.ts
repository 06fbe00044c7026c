import type { LocalObject } from '../api/types.ts';

export type LocalObjectKind = LocalObject['kind'];
export type LocalObjectOf<K extends LocalObjectKind> = Extract<LocalObject, { kind: K }>;

/** Read access to the ConfigMaps, Secrets and RuntimeClasses of the node. RuntimeClasses have the namespace ''. */
export interface ObjectLookup {
  get<K extends LocalObjectKind>(kind: K, namespace: string, name: string): LocalObjectOf<K> | undefined;
}

/** What changed about one object; `object` is absent once it is gone. */
export type LocalObjectChange = { kind: LocalObjectKind; namespace: string; name: string; object?: LocalObject };

/** Identifies an object within the store; also the form in which users see it. */
export function localObjectKey(kind: LocalObjectKind, namespace: string, name: string): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

/** The node's ConfigMaps, Secrets and RuntimeClasses, each set by the source that holds its file. */
export class LocalObjects implements ObjectLookup {
  #objects = new Map<string, LocalObject>();
  readonly #listeners = new Set<(change: LocalObjectChange) => void>();

  get<K extends LocalObjectKind>(kind: K, namespace: string, name: string): LocalObjectOf<K> | undefined {
    return this.#objects.get(localObjectKey(kind, namespace, name)) as LocalObjectOf<K> | undefined;
  }

  /** Takes the full set of objects and notifies the listeners of what differs from the set before. */
  replace(objects: readonly LocalObject[]): void {
    const before = this.#objects;
    this.#objects = new Map(objects.map((object) => [keyOf(object), object]));
    for (const [key, object] of this.#objects) {
      if (JSON.stringify(before.get(key)) !== JSON.stringify(object)) this.#notify(object, true);
    }
    for (const [key, object] of before) {
      if (!this.#objects.has(key)) this.#notify(object, false);
    }
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: (change: LocalObjectChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(object: LocalObject, present: boolean): void {
    const { namespace, name } = object.metadata;
    const change: LocalObjectChange = { kind: object.kind, namespace, name, ...(present ? { object } : {}) };
    for (const listener of this.#listeners) listener(change);
  }
}

function keyOf({ kind, metadata }: LocalObject): string {
  return localObjectKey(kind, metadata.namespace, metadata.name);
}
