/**
 * Garbage collection: deletes objects whose owners do not exist, and completes Foreground and Orphan deletions (upstream's garbage
 * collector, but with a store that is never stale).
 */

import type { StoredObject, StoreEvent } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { Dependents, ownersOf } from './dependents.ts';
import { followResource } from './follow-resource.ts';
import { collectDependent, completeOwner, type OwnerLookup, refersTo } from './garbage-steps.ts';
import { type Location, locationOf } from './location.ts';
import { WorkQueue } from './work-queue.ts';

export type GarbageParts = ControllerParts &
  OwnerLookup & {
    /** Store names of all resources, which change along with the custom kinds. */
    resources: { names: () => readonly string[]; onChange: (listener: () => void) => void };
  };

/** Collects garbage until the signal aborts. */
export async function collectGarbage(parts: GarbageParts): Promise<void> {
  const collector = new GarbageCollector(parts);
  const followed = new Map<string, Promise<void>>();
  const follow = () => {
    for (const resource of parts.resources.names()) {
      if (followed.has(resource) || parts.signal.aborted) continue;
      const listed = (objects: readonly StoredObject[]) => collector.listed(resource, objects);
      const changed = (event: StoreEvent) => collector.changed(resource, event);
      followed.set(resource, followResource(resource, { listed, changed }, parts));
    }
  };
  follow();
  parts.resources.onChange(follow);
  await collector.run();
  await Promise.all(followed.values());
}

class GarbageCollector {
  readonly #parts: GarbageParts;
  readonly #dependents = new Dependents();
  /** Objects whose owners or dependents must be checked. */
  readonly #queue: WorkQueue;

  constructor(parts: GarbageParts) {
    this.#parts = parts;
    const handle = (location: Location) => this.#process(location);
    this.#queue = new WorkQueue({ ...parts, handle, failure: 'collect garbage failed' });
  }

  listed(resource: string, objects: readonly StoredObject[]): void {
    for (const object of objects) this.#observe(resource, object);
  }

  changed(resource: string, { type, object, previous }: StoreEvent): void {
    const location = locationOf(resource, object);
    if (type !== 'DELETED') {
      this.#observe(resource, object);
      if (previous?.bytes.includes(REFERENCES))
        for (const owner of ownersOf(previous.decode())) this.#addOwner(owner, location.namespace);
      return;
    }
    this.#dependents.remove(location);
    const last = object.decode();
    for (const dependent of this.#dependents.of(last.metadata.uid ?? '')) this.#queue.add(dependent);
    for (const owner of ownersOf(last)) this.#addOwner(owner, location.namespace);
  }

  run(): Promise<void> {
    return this.#queue.run();
  }

  #observe(resource: string, object: StoredObject): void {
    this.#dependents.set(resource, object);
    const isCandidate = object.bytes.includes(REFERENCES) || object.bytes.includes(DELETION);
    if (isCandidate) this.#queue.add(locationOf(resource, object));
  }

  async #process(location: Location): Promise<void> {
    const object = this.#parts.store.get(location)?.decode();
    if (object === undefined) return;
    const dependents = this.#dependentsOf(location, object.metadata.uid ?? '');
    const added =
      object.metadata.deletionTimestamp === undefined
        ? await collectDependent(this.#parts, { location, object, hasDependents: dependents.length > 0 })
        : await completeOwner(this.#parts, {
            location,
            object,
            dependents,
            dependentsOf: (owner, uid) => this.#dependentsOf(owner, uid),
          });
    for (const one of added) this.#queue.add(one);
  }

  #dependentsOf(location: Location, uid: string): Location[] {
    return this.#dependents.of(uid).filter((dependent) => {
      const { namespace } = dependent;
      const references = this.#dependents.ownersOf(dependent);
      return references.some((reference) => refersTo(this.#parts, { reference, namespace }, { location, uid }));
    });
  }

  #addOwner(owner: { apiVersion: string; kind: string; name: string }, namespace: string): void {
    const location = this.#parts.locate(owner, namespace);
    const object = location && this.#parts.store.get(location)?.decode();
    if (location !== undefined && isDeleted(object)) this.#queue.add(location);
  }
}

const REFERENCES = Buffer.from('"ownerReferences":');
const DELETION = Buffer.from('"deletionTimestamp":');

const isDeleted = (object: ApiObject | undefined) => object?.metadata.deletionTimestamp !== undefined;
