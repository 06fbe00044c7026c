/** The entries of the search box: the names of all objects of every resource that can be listed. */
import { signal } from '@preact/signals';
import type { KubeObject, Resource } from '../api/objects.ts';
import { call } from '../api/request.ts';
import { pathOf } from '../api/resources.ts';
import { objectHref } from './route.ts';
import type { SearchEntry } from './search-rank.ts';

const NAMES_ONLY = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;q=0.5';
/** Maximum number of concurrent requests: browsers open six connections to a host, and the page needs some for other requests. */
const CONCURRENCY = 3;
/** Maximum number of objects of a resource that are read. Others cannot be found. */
const MAX_OBJECTS = 2000;
/** Time after which the names are read again when the search box is opened. */
const FRESH_MS = 30_000;
/** Resources with many objects that users do not search by name. */
const LEFT_OUT = new Set(['events', 'leases', 'endpointslices', 'controllerrevisions', 'endpoints']);
/** A group whose objects have the names of nodes and pods. */
const METRICS = 'metrics.k8s.io';

export class SearchEntries {
  /** The entries. During the first reading, they are added resource by resource. */
  readonly entries = signal<readonly SearchEntry[]>([]);
  readonly isReading = signal(false);
  #readMs = Number.NEGATIVE_INFINITY;

  /** Reads the names, unless they were read less than 30 seconds ago. Never rejects. */
  async refresh(resources: readonly Resource[], signal: AbortSignal): Promise<void> {
    if (this.isReading.value || Date.now() - this.#readMs < FRESH_MS) return;
    this.isReading.value = true;
    const isFirst = this.entries.value.length === 0;
    const found: SearchEntry[] = [];
    const queue = resources.filter(({ group, plural }) => group !== METRICS && !LEFT_OUT.has(plural));
    const work = async () => {
      for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift()) {
        found.push(...(await entriesOf(next, signal)));
        if (isFirst) this.entries.value = [...found];
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    this.isReading.value = false;
    if (signal.aborted) return;
    this.entries.value = found;
    this.#readMs = Date.now();
  }
}

/** Returns the entries of a resource; none if it cannot be listed. */
async function entriesOf(resource: Resource, signal: AbortSignal): Promise<SearchEntry[]> {
  try {
    const query = { limit: MAX_OBJECTS };
    const { items = [] } = await call<{ items?: KubeObject[] }>(pathOf(resource), {
      accept: NAMES_ONLY,
      query,
      signal,
    });
    return items.map(({ metadata: { name = '', namespace = '' } }) => ({
      ...{ name, namespace, kind: resource.kind },
      href: objectHref(resource, { namespace, name }),
    }));
  } catch {
    return [];
  }
}
