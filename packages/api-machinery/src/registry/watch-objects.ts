/** Watches a resource. Combines existing objects, changes since a version, and bookmarks into a single ordered stream without gaps. */
import { setImmediate } from 'node:timers/promises';
import { expired } from '../status/api-error.ts';
import type { StoreEvent, StoreWatch } from '../store/object-store.ts';
import { ExpiredRevision } from '../store/store-errors.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ListOptions } from './list-options.ts';
import { readSelected, servedObjects } from './read-selected.ts';
import type { ResourceParts } from './resource-parts.ts';
import { watchVersion } from './resource-version.ts';
import { type Selection, selectionOf } from './selection.ts';
import { untilDurable } from './store-answers.ts';
import { WatchClock } from './watch-clock.ts';
import { WatchReader } from './watch-reader.ts';

export type WatchEvent =
  /** The object in the served version. For DELETED, the last state that matched the watch's selectors, with the revision of the change. */
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: StoredObject }
  /** All changes up to the revision have been sent. `isInitialEnd`: whether this bookmark marks the end of the initial events. */
  | { type: 'BOOKMARK'; revision: number; isInitialEnd: boolean };

export type WatchRequest = {
  /** The namespace to watch; '' for all namespaces. */
  namespace: string;
  options: ListOptions;
  /** Signal whose abort ends the watch. */
  signal?: AbortSignal;
};

/**
 * How often to check whether the bookmark that marks the end of the initial events can be sent, as in upstream. It is delayed while the
 * requested resource version is in the future.
 */
const INITIAL_END_EVERY_MS = 1_000;

/**
 * Watches objects. Yields batches of events as they occur. The iterable ends when the watch times out, the signal aborts, or the reader is
 * too slow. Iteration throws a 410 Expired `ApiError` if the history no longer contains all changes since the requested version. Throws
 * `ApiError` for invalid parameters.
 */
export function watchObjects(parts: ResourceParts, request: WatchRequest): AsyncIterable<readonly WatchEvent[]> {
  const selection = selectionOf(parts.kind, request.namespace, request.options);
  const version = watchVersion(request.options.resourceVersion);
  return batches(parts, { ...request, selection, version });
}

type Watching = WatchRequest & { selection: Selection; version: number };

async function* batches(parts: ResourceParts, watching: Watching): AsyncGenerator<readonly WatchEvent[]> {
  const { options, version, selection, signal } = watching;
  const hasInitial = options.sendInitialEvents ?? version === 0;
  // without initial events or a resource version, the watch starts at the latest revision
  const from = hasInitial || version === 0 ? parts.store.revision : version;
  using clock = new WatchClock(options.timeoutSeconds, signal);
  const reader = new WatchReader(openWatch(parts, { from, selection, signal: clock.signal }));
  const initial = hasInitial ? await initialEvents(parts, selection, options) : [];
  // waits for durability even if there are no initial events, because the list may be empty due to a deletion that is not durable yet
  if (hasInitial) await untilDurable(parts.store);
  if (initial.length > 0) yield initial;
  let awaitsEnd = hasInitial && options.allowWatchBookmarks;
  while (!clock.isOver) {
    const { progress } = reader;
    if (awaitsEnd && progress !== undefined && progress >= version) {
      awaitsEnd = false;
      yield [{ type: 'BOOKMARK', revision: progress, isInitialEnd: true }];
    }
    const batch = await reader.next(clock.untilBookmark(awaitsEnd ? INITIAL_END_EVERY_MS : undefined));
    if (batch === 'end') return;
    if (batch !== 'time' && selection.isCostly) await (options.turn ?? setImmediate)();
    const events = batch === 'time' ? bookmark(reader, options, awaitsEnd) : changes(parts, selection, batch);
    if (events.length > 0) yield events;
  }
}

function openWatch(
  { store, kind }: ResourceParts,
  { from, selection, signal }: { from: number; selection: Selection; signal: AbortSignal },
): StoreWatch {
  try {
    return store.watch(kind.storeResource, { from, namespace: selection.namespace, signal });
  } catch (error) {
    if (!(error instanceof ExpiredRevision)) throw error;
    throw expired(`too old resource version: ${from} (${error.oldest})`);
  }
}

async function initialEvents(parts: ResourceParts, selection: Selection, { turn }: ListOptions): Promise<WatchEvent[]> {
  const { objects } = await readSelected(parts, selection, { turn });
  return (await servedObjects(parts, objects, { turn })).map((object) => ({ type: 'ADDED', object }));
}

function bookmark({ progress }: WatchReader, options: ListOptions, awaitsEnd: boolean): WatchEvent[] {
  if (!options.allowWatchBookmarks || awaitsEnd || progress === undefined) return [];
  return [{ type: 'BOOKMARK', revision: progress, isInitialEnd: false }];
}

const changes = (parts: ResourceParts, selection: Selection, batch: readonly StoreEvent[]): WatchEvent[] =>
  batch.flatMap((event) => change(parts, selection, event) ?? []);

/**
 * Converts a store event to an event for a selection. An object is reported as added when it starts to match, and as deleted when it no
 * longer matches.
 */
function change({ kind }: ResourceParts, selection: Selection, event: StoreEvent): WatchEvent | undefined {
  const { type, object, previous } = event;
  if (!selection.isFiltered) return { type, object: kind.served(object) };
  const isIn = type !== 'DELETED' && selection.matches(object.decode());
  const wasIn = previous !== undefined && selection.matches(previous.decode());
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', object: kind.served(object) };
  if (!wasIn) return undefined;
  return { type: 'DELETED', object: kind.served(previous.withRevision(object.revision)) };
}
