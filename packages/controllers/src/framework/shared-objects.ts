import type { KubeObject, Resource } from '@podwright/kube-api';
import type { Informers } from '@podwright/kube-client';
import { ObjectCache } from './object-cache.ts';

/** One cache per resource, shared by all controllers. Watching a resource starts when its cache is first requested. */
export class SharedObjects {
  readonly #informers: Informers;
  readonly #caches = new Map<string, ObjectCache<KubeObject>>();

  constructor(informers: Informers) {
    this.#informers = informers;
  }

  of<T extends KubeObject>(resource: Resource): ObjectCache<T> {
    const key = `${resource.plural}.${resource.group}`;
    const known = this.#caches.get(key);
    if (known !== undefined) return known as unknown as ObjectCache<T>;
    const cache = new ObjectCache<T>(resource, (options) => this.#informers.start<T>(options));
    this.#caches.set(key, cache as unknown as ObjectCache<KubeObject>);
    return cache;
  }

  stop(): void {
    for (const cache of this.#caches.values()) cache.stop();
  }
}
