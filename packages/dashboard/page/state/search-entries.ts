/** The entries of the search box: all objects, by name, of every resource that can be listed. */
import { signal } from '@preact/signals';
import { readMayList } from '../api/access.ts';
import type { KubeObject, Resource } from '../api/objects.ts';
import { call } from '../api/request.ts';
import { pathOf } from '../api/resources.ts';
import { objectHref } from './route.ts';
import type { SearchEntry } from './search-rank.ts';

const NAMES_ONLY = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;q=0.5';
/** Maximum number of concurrent requests: browsers open six connections per host, and the page needs some of them for other requests. */
const CONCURRENCY = 3;
/** Maximum number of objects to read per resource. Any others cannot be found. */
const MAX_OBJECTS = 2000;
/** How long the names stay fresh. After that, they are read again when the search box is opened. */
const FRESH_MS = 30_000;
/** Resources with many objects that users do not search by name. */
const LEFT_OUT = new Set(['events', 'leases', 'endpointslices', 'controllerrevisions', 'endpoints']);
/** An API group that is not searched, because its objects have the same names as nodes and pods. */
const METRICS = 'metrics.k8s.io';

/** What to search. `namespaces` is undefined for users who may list objects in all namespaces. */
type Searched = { resources: readonly Resource[]; namespaces?: readonly string[] };

export class SearchEntries {
  /** The search entries. During the first read, they are added resource by resource. */
  readonly entries = signal<readonly SearchEntry[]>([]);
  readonly isReading = signal(false);
  #readMs = Number.NEGATIVE_INFINITY;
  /** The namespaces that were searched when the names were last read. */
  #place: string | undefined;

  /** Reads the names of all objects unless they were read within the last 30 seconds. Never rejects. */
  async refresh({ resources, namespaces }: Searched, signal: AbortSignal): Promise<void> {
    const place = namespaces?.join(' ');
    if (this.isReading.value || (Date.now() - this.#readMs < FRESH_MS && place === this.#place)) return;
    this.isReading.value = true;
    const isFirst = this.entries.value.length === 0;
    const found: SearchEntry[] = [];
    const named = resources.filter(({ group, plural }) => group !== METRICS && !LEFT_OUT.has(plural));
    const queue = await listsOf({ resources: named, namespaces }, signal).catch(() => []);
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
    this.#place = place;
  }
}

/** A list to read. The namespace '' means all namespaces. */
type List = { resource: Resource; namespace: string };

/** Returns the lists to read. For individual namespaces, omits lists that the user may not read. Only rejects if the signal aborts. */
async function listsOf({ resources, namespaces }: Searched, signal: AbortSignal): Promise<List[]> {
  if (namespaces === undefined) return resources.map((resource) => ({ resource, namespace: '' }));
  const rights = await Promise.all(
    namespaces.map(async (namespace) => ({ namespace, mayList: await readMayList(namespace, signal) })),
  );
  return resources.flatMap((resource) => {
    const allowed = rights.filter(({ mayList }) => mayList(resource));
    const places = resource.namespaced ? allowed.map(({ namespace }) => namespace) : allowed.length > 0 ? [''] : [];
    return places.map((namespace) => ({ resource, namespace }));
  });
}

/** Returns the search entries for the objects of a list, or none if the list cannot be read. */
async function entriesOf({ resource, namespace: place }: List, signal: AbortSignal): Promise<SearchEntry[]> {
  try {
    const query = { limit: MAX_OBJECTS };
    const { items = [] } = await call<{ items?: KubeObject[] }>(pathOf(resource, { namespace: place }), {
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
