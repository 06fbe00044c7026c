/** One watch: the existing objects, the changes since a version, and live changes, in one order without gaps. */
import { setTimeout as after } from 'node:timers/promises';
import type { ApiObject } from './json.ts';
import { type ListOptions, versionNumber } from './list-options.ts';
import type { StoreEvent } from './object-store.ts';
import type { Registry } from './registry.ts';
import { tableOf } from './registry.ts';
import { apiVersionOf, type ResourceKind } from './resource-kinds.ts';
import { type ApiError, expired } from './status-error.ts';

export type WatchEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: unknown;
  /** Whether the bookmark marks the end of the initial events. */
  isInitialEnd?: boolean;
};

export type WatchedPlace = { kind: ResourceKind; namespace: string };

/** The bookmark annotation at the end of the initial events (KEP 3157). */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const BOOKMARK_EVERY_MS = 60_000;
const BOOKMARK_BEFORE_END_MS = 2_000;
const DEFAULT_TIMEOUT_S = 1_800;

/** Sends events to `send` until the watch ends: by its timeout, or because the signal aborts. */
export async function watch(
  registry: Registry,
  { kind, namespace }: WatchedPlace,
  { options, send, signal }: { options: ListOptions; send: (event: WatchEvent) => void; signal: AbortSignal },
): Promise<void> {
  const { store } = registry;
  const table = tableOf(kind);
  const isInside = (object: ApiObject) => namespace === '' || object.metadata.namespace === namespace;
  const matches = (object: ApiObject) => isInside(object) && options.matches(object);
  const from = versionNumber(options.resourceVersion);
  const beginsWithAll = options.sendInitialEvents ?? from === 0;
  const earlier = beginsWithAll ? [] : store.since(table, from);
  if (earlier === undefined) {
    const message = `too old resource version: ${from} (${store.compactedOf(table)})`;
    return send({ type: 'ERROR', object: expired(message).status });
  }
  const bookmark = (isInitialEnd: boolean) =>
    send({ type: 'BOOKMARK', object: bookmarkOf(kind, store.revision, isInitialEnd), isInitialEnd });
  let awaitsVersion = false;
  if (beginsWithAll) {
    for (const object of registry.list(kind, namespace)) if (matches(object)) send({ type: 'ADDED', object });
    if (options.allowWatchBookmarks) {
      awaitsVersion = store.revision < from;
      if (!awaitsVersion) bookmark(true);
    }
  }
  const pass = (event: StoreEvent) => {
    const seen = event.revision > from || beginsWithAll ? seenAs(event, matches) : undefined;
    if (seen !== undefined) send(seen);
    if (awaitsVersion && store.revision >= from) {
      awaitsVersion = false;
      bookmark(true);
    }
  };
  for (const event of earlier) pass(event);
  const unsubscribe = store.subscribe(table, pass);
  try {
    await untilEnd({ options, signal, bookmark: () => !awaitsVersion && bookmark(false) });
  } finally {
    unsubscribe();
  }
}

/** A change as seen by a watch of a selection: objects that start to match are added, those that cease to are deleted. */
function seenAs(
  { type, object, previous }: StoreEvent,
  matches: (object: ApiObject) => boolean,
): WatchEvent | undefined {
  const isIn = type !== 'DELETED' && matches(object);
  const wasIn = previous !== undefined && matches(previous);
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', object };
  if (!wasIn) return undefined;
  const { resourceVersion } = object.metadata;
  return { type: 'DELETED', object: { ...previous, metadata: { ...previous.metadata, resourceVersion } } };
}

/** Like upstream's encoding of an object that only has a version: required fields of pods are null. */
function bookmarkOf(kind: ResourceKind, revision: number, isInitialEnd: boolean): ApiObject {
  const annotations = isInitialEnd ? { annotations: { [INITIAL_EVENTS_END]: 'true' } } : {};
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: { resourceVersion: String(revision), ...annotations },
    ...(kind.kind === 'Pod' ? { spec: { containers: null }, status: {} } : {}),
  };
}

async function untilEnd({
  options,
  signal,
  bookmark,
}: {
  options: ListOptions;
  signal: AbortSignal;
  bookmark: () => void;
}): Promise<void> {
  const end = performance.now() + (options.timeoutSeconds || DEFAULT_TIMEOUT_S) * 1000;
  const bookmarkAtEnd = end - BOOKMARK_BEFORE_END_MS;
  try {
    while (performance.now() < end && !signal.aborted) {
      const present = performance.now();
      const pauses = [BOOKMARK_EVERY_MS, end - present, bookmarkAtEnd - present].filter((pause) => pause > 0);
      await after(Math.ceil(Math.min(...pauses)), undefined, { signal, ref: false });
      if (options.allowWatchBookmarks && performance.now() < end) bookmark();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The ERROR event for an error in a started stream. */
export const errorEvent = (error: ApiError): WatchEvent => ({ type: 'ERROR', object: error.status });
