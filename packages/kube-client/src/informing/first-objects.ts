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

/** All selected objects, and the resource version to start watching from. */
export type FirstObjects<T extends KubeObject> = { objects: Iterable<T>; resourceVersion: string | undefined };

/** How long the server may be silent while sending the initial objects, and how long it may take to send them all. */
export type InitialTimes = { silenceMs?: number; initialMs?: number };

/**
 * Reads the initial objects of a WatchList request up to the bookmark that marks their end; after that, the iterator yields changes.
 * Rejects with `unimplemented` if the server is silent for too long or does not send the bookmark in time, because it might not support
 * initial events.
 */
export async function readInitialEvents<T extends KubeObject>(
  events: AsyncIterator<WatchEvent<T>>,
  { silenceMs = INITIAL_EVENTS_SILENCE_MS, initialMs = INITIAL_EVENTS_MS }: InitialTimes = {},
): Promise<FirstObjects<T>> {
  const objects = new Map<string, T>();
  const endAtMs = performance.now() + initialMs;
  for (;;) {
    const next = await nextWithin(events, Math.min(silenceMs, endAtMs - performance.now()));
    if (next.done) throw new PodwrightError('unavailable', 'the watch ended before all initial objects');
    const { type, object } = next.value;
    const { namespace = '', name = '', resourceVersion } = object.metadata;
    if (isInitialEnd(next.value)) return { objects: objects.values(), resourceVersion };
    if (type === 'DELETED') objects.delete(`${namespace}/${name}`);
    else if (type !== 'BOOKMARK') objects.set(`${namespace}/${name}`, object);
    if (objects.size > MAX_FIRST_OBJECTS || performance.now() > endAtMs) throw endless();
  }
}

const endless = () => new PodwrightError('unimplemented', 'the server has not sent the end of the initial objects');

async function nextWithin<V>(events: AsyncIterator<V>, silenceMs: number): Promise<IteratorResult<V, unknown>> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(endless()), silenceMs);
  try {
    return await Promise.race([events.next(), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Parameters of a list request. `resourceVersion` is used as in client-go's reflector; '' requests the most recent version. */
export type ListRequest = { resource: Resource; selection: Selection; resourceVersion: string };

/**
 * Lists all pages. If the server can no longer continue a paginated list (410), reads the entire list in one request, like client-go's
 * pager.
 */
export async function listAll<T extends KubeObject>(
  client: KubeClient,
  { resource, selection, resourceVersion }: ListRequest,
  signal: AbortSignal,
): Promise<FirstObjects<T>> {
  const limit = resourceVersion === '' || resourceVersion === '0' ? LIST_PAGE_SIZE : undefined;
  const objects: T[] = [];
  let from: string | undefined;
  for (let pages = 0; pages < MAX_LIST_PAGES; pages++) {
    const parameters = from === undefined ? { resourceVersion } : { continue: from };
    const page = await client.list<T>(resource, { ...selection, ...parameters, limit }, { signal }).catch((error) => {
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
