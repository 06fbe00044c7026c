import { PodwrightError } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { isApiStatus } from '../api-status-error.ts';
import { isInitialEnd, type KubeClient, type Selection, type WatchEvent } from '../kube-client.ts';
import {
  INITIAL_EVENTS_MS,
  INITIAL_EVENTS_SILENCE_MS,
  LIST_PAGE_SIZE,
  MAX_FIRST_OBJECTS,
  MAX_LIST_PAGES,
} from '../limits.ts';

/** All objects of a selection, and the version from which a watch goes on. */
export type FirstObjects<T extends KubeObject> = { objects: Iterable<T>; resourceVersion: string | undefined };

/** How long a server may be silent before the end of the first objects, and take for all of them. */
export type InitialTimes = { silenceMs?: number; initialMs?: number };

/**
 * The objects that a WatchList begins with, up to its bookmark; the iterator then goes on with what changes. Rejects with
 * `unimplemented` where the server says nothing for long: it may not know of initial events. So it does where there is no end of them.
 */
export async function readInitialEvents<T extends KubeObject>(
  events: AsyncIterator<WatchEvent<T>>,
  { silenceMs = INITIAL_EVENTS_SILENCE_MS, initialMs = INITIAL_EVENTS_MS }: InitialTimes = {},
): Promise<FirstObjects<T>> {
  const objects = new Map<string, T>();
  const endAtMs = performance.now() + initialMs;
  for (;;) {
    const next = await nextWithin(events, Math.min(silenceMs, endAtMs - performance.now()));
    if (next.done) throw new PodwrightError('unavailable', 'the watch ended before it had told all objects');
    const { type, object } = next.value;
    const { namespace = '', name = '', resourceVersion } = object.metadata;
    if (isInitialEnd(next.value)) return { objects: objects.values(), resourceVersion };
    if (type === 'DELETED') objects.delete(`${namespace}/${name}`);
    else if (type !== 'BOOKMARK') objects.set(`${namespace}/${name}`, object);
    if (objects.size > MAX_FIRST_OBJECTS || performance.now() > endAtMs) throw endless();
  }
}

const endless = () => new PodwrightError('unimplemented', 'the server has not told the end of the first objects');

async function nextWithin<V>(events: AsyncIterator<V>, silenceMs: number): Promise<IteratorResult<V, unknown>> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(endless()), silenceMs);
  try {
    return await Promise.race([events.next(), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a list is asked for: `resourceVersion` as client-go's reflector asks, '' for the newest there is. */
export type ListRequest = { resource: Resource; selection: Selection; resourceVersion: string };

/** All pages of a list. One that a server cannot continue any more (410) is read anew as a whole, as client-go's pager does. */
export async function listAll<T extends KubeObject>(
  client: KubeClient,
  { resource, selection, resourceVersion }: ListRequest,
  signal: AbortSignal,
): Promise<FirstObjects<T>> {
  const limit = resourceVersion === '' || resourceVersion === '0' ? LIST_PAGE_SIZE : undefined;
  const objects: T[] = [];
  let from: string | undefined;
  for (let pages = 0; pages < MAX_LIST_PAGES; pages++) {
    const asked = from === undefined ? { resourceVersion } : { continue: from };
    const page = await client.list<T>(resource, { ...selection, ...asked, limit }, { signal }).catch((error) => {
      if (from === undefined || !isApiStatus(error, 410)) throw error;
      objects.length = 0;
      return client.list<T>(resource, { ...selection, resourceVersion }, { signal });
    });
    for (const item of page.items) objects.push(item);
    from = page.metadata.continue;
    if (!from) return { objects, resourceVersion: page.metadata.resourceVersion };
  }
  throw new PodwrightError('resource_exhausted', `list ${resource.plural}: more than ${MAX_LIST_PAGES} pages`);
}
