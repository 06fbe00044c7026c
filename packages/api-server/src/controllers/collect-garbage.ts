/**
 * Garbage collection: deletes objects whose owners do not exist, and completes deletions with the policies Foreground and Orphan (upstream's
 * garbage collector, with a store that is never behind).
 */

import { ApiError, type StoredObject, type StoreEvent } from '@podwright/api-machinery';
import { errorMessage, pause } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { Dependents, type Location, locationOf, ownersOf } from './dependents.ts';
import { followResource } from './follow-resource.ts';
import { collectDependent, completeOwner, type OwnerLookup } from './garbage-steps.ts';

export type GarbageParts = ControllerParts &
  OwnerLookup & {
    /** The names in the store of all resources. */
    resources: readonly string[];
  };

const RETRY_MS = 1000;
const MAX_TRIES = 5;

/** Runs until the signal aborts. */
export async function collectGarbage(parts: GarbageParts): Promise<void> {
  const collector = new GarbageCollector(parts);
  const followers = parts.resources.map((resource) =>
    followResource(
      resource,
      {
        listed: (objects) => collector.listed(resource, objects),
        changed: (event) => collector.changed(resource, event),
      },
      parts,
    ),
  );
  await Promise.all([...followers, collector.run()]);
}

class GarbageCollector {
  readonly #parts: GarbageParts;
  readonly #dependents = new Dependents();
  /** Objects to check, with the number of failed tries. */
  readonly #queue = new Map<string, { location: Location; tries: number }>();
  #wake: () => void = () => {};

  constructor(parts: GarbageParts) {
    this.#parts = parts;
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
    for (const dependent of this.#dependents.of(last.metadata.uid ?? '')) this.#add(dependent);
    for (const owner of ownersOf(last)) this.#addOwner(owner, location.namespace);
  }

  async run(): Promise<void> {
    const { signal, logger } = this.#parts;
    while (!signal.aborted) {
      const [key, next] = this.#queue.entries().next().value ?? [];
      if (key === undefined || next === undefined) {
        await this.#untilWork();
        continue;
      }
      this.#queue.delete(key);
      try {
        await this.#process(next.location);
      } catch (error) {
        if (isOvertaken(error) && next.tries < MAX_TRIES) this.#queue.set(key, { ...next, tries: next.tries + 1 });
        else {
          logger.warn({ ...next.location, error: errorMessage(error) }, 'collect garbage failed, trying again');
          await pause(RETRY_MS, signal);
          this.#add(next.location);
        }
      }
    }
  }

  #observe(resource: string, object: StoredObject): void {
    this.#dependents.set(resource, object);
    const isCandidate = object.bytes.includes(REFERENCES) || object.bytes.includes(DELETION);
    if (isCandidate) this.#add(locationOf(resource, object));
  }

  async #process(location: Location): Promise<void> {
    const object = this.#parts.store.get(location)?.decode();
    if (object === undefined) return;
    const dependents = this.#dependents.of(object.metadata.uid ?? '');
    const added =
      object.metadata.deletionTimestamp === undefined
        ? await collectDependent(this.#parts, { location, object, hasDependents: dependents.length > 0 })
        : await completeOwner(this.#parts, { location, object, dependents });
    for (const one of added) this.#add(one);
  }

  #addOwner(owner: { apiVersion: string; kind: string; name: string }, namespace: string): void {
    const location = this.#parts.locate(owner, namespace);
    const object = location && this.#parts.store.get(location)?.decode();
    if (location !== undefined && isDeleted(object)) this.#add(location);
  }

  #add(location: Location): void {
    const key = `${location.resource}/${location.namespace}/${location.name}`;
    if (!this.#queue.has(key)) this.#queue.set(key, { location, tries: 0 });
    this.#wake();
  }

  #untilWork(): Promise<void> {
    const { signal } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => {
      signal.removeEventListener('abort', wake);
      resolve();
    };
    signal.addEventListener('abort', wake);
    this.#wake = wake;
    return promise;
  }
}

const REFERENCES = Buffer.from('"ownerReferences":');
const DELETION = Buffer.from('"deletionTimestamp":');

const isDeleted = (object: ApiObject | undefined) => object?.metadata.deletionTimestamp !== undefined;

const isOvertaken = (error: unknown) => error instanceof ApiError && [404, 409].includes(error.status.code);
