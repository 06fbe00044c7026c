/** Lists objects, then watches them, and goes on after failures from where it was. */
import { linesOf } from './lines.ts';
import type { KubeObject } from './objects.ts';
import { call, isExpired, isForbidden, isNotFound } from './request.ts';
import { stream } from './stream.ts';
import { type Change, watchMessage } from './watch-event.ts';

/** Objects that one answer of a list has; the next ones follow by `continue`. */
const PAGE_SIZE = 500;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;

export type Following<T> = {
  /** All objects of a new list, which replace the earlier ones. */
  onList(objects: T[]): void;
  onChange(change: Change<T>): void;
  /** A list or a watch failed; the next attempt follows, unless `isFinal`: without the right or the kind. */
  onFailure(error: unknown, isFinal: boolean): void;
  /** The objects are current. Also called after a failure. */
  onLive(): void;
};

export type ListPlace = { path: string; query?: Record<string, string> };

/** How answers are read: over the network, except in tests. */
export type Transport = { call: typeof call; stream: typeof stream };

const NETWORK: Transport = { call, stream };

type FollowOptions<T> = { following: Following<T>; signal: AbortSignal; transport?: Transport };

/** Calls `following` until the signal aborts, or until a final failure. */
export async function followList<T extends KubeObject>(
  place: ListPlace,
  { following, signal, transport = NETWORK }: FollowOptions<T>,
): Promise<void> {
  let version: string | undefined;
  let delayMs = FIRST_DELAY_MS;
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        const listed = await listAll<T>(place, signal, transport);
        version = listed.resourceVersion;
        following.onList(listed.objects);
      }
      following.onLive();
      for await (const next of watch(place, { version, following, signal, transport })) {
        version = next;
        delayMs = FIRST_DELAY_MS;
      }
      // a watch that ends at once, again and again, must not be repeated without a pause
      await pause(FIRST_DELAY_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (isExpired(error)) {
        version = undefined;
        continue;
      }
      const isFinal = isForbidden(error) || isNotFound(error);
      following.onFailure(error, isFinal);
      if (isFinal) return;
      await pause(delayMs * (0.8 + Math.random() * 0.4), signal);
      delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
    }
  }
}

type List<T> = { metadata?: { resourceVersion?: string; continue?: string }; items?: T[] | null };

async function listAll<T>({ path, query }: ListPlace, signal: AbortSignal, { call }: Transport) {
  const objects: T[] = [];
  for (let next: string | undefined; ; ) {
    const list: List<T> = await call<List<T>>(path, { query: { ...query, limit: PAGE_SIZE, continue: next }, signal });
    objects.push(...(list.items ?? []));
    next = list.metadata?.continue || undefined;
    if (next === undefined) return { objects, resourceVersion: list.metadata?.resourceVersion ?? '' };
  }
}

type Watching<T> = { version: string; following: Following<T>; signal: AbortSignal; transport: Transport };

/** Yields the versions from which the watch can be resumed. Ends when the server ends the watch. */
async function* watch<T extends KubeObject>(
  { path, query }: ListPlace,
  { version, following, signal, transport }: Watching<T>,
): AsyncGenerator<string> {
  const watching = { ...query, watch: 1, allowWatchBookmarks: true, resourceVersion: version };
  for await (const lines of linesOf(transport.stream(path, { query: watching, signal }))) {
    let newest: string | undefined;
    for (const line of lines) {
      const message = watchMessage<T>(line);
      if (message?.kind === 'error') throw message.error;
      if (message?.kind === 'change') following.onChange(message.change);
      const seen =
        message?.kind === 'change' ? message.change.object.metadata.resourceVersion : message?.resourceVersion;
      newest = seen || newest;
    }
    if (newest !== undefined) yield newest;
  }
}

/** Resolves after the time, or when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
