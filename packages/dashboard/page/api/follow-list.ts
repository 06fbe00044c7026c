/** Lists objects and then watches them. After a failure, resumes the watch from the last resource version. */
import { linesOf } from './lines.ts';
import type { KubeObject } from './objects.ts';
import { call, isExpired, isForbidden, isNotFound } from './request.ts';
import { FIRST_DELAY_MS, pause, RetryDelay } from './retry-delay.ts';
import { stream } from './stream.ts';
import { type Change, watchMessage } from './watch-event.ts';

/** Maximum number of objects per page of a list. Further pages are requested with `continue`. */
export const PAGE_SIZE = 500;

/** Receives a list of objects and subsequent changes. */
export type ListHandler<T> = {
  /** Called when a list has been read. Its objects replace all previous ones. */
  onList(objects: T[]): void;
  onChange(change: Change<T>): void;
  /**
   * Called when a list or watch has failed. It is retried unless `isFinal`, which means that the user lacks permission or the server lacks
   * the resource.
   */
  onFailure(error: unknown, isFinal: boolean): void;
  /** Called when the server has responded to a list or accepted a watch, so the objects are current. */
  onLive(): void;
};

/** The path of a collection, without a leading slash, and the query parameters of its lists and watches. */
export type ListTarget = { path: string; query?: Record<string, string> };

/** How requests are sent. Tests replace this to avoid the network. */
export type Transport = { call: typeof call; stream: typeof stream };

export const NETWORK: Transport = { call, stream };

type FollowOptions<T> = {
  handler: ListHandler<T>;
  signal: AbortSignal;
  transport?: Transport;
  /** Selects which listed objects to keep. Called after each page, to bound memory use. */
  keep?(objects: T[]): T[];
};

/** Lists and watches until the signal aborts or a final failure occurs. Never rejects. */
export async function followList<T extends KubeObject>(
  target: ListTarget,
  { handler, signal, transport = NETWORK, keep }: FollowOptions<T>,
): Promise<void> {
  let version: string | undefined;
  const retry = new RetryDelay();
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        const listed = await listAll<T>(target, { signal, transport, keep });
        version = listed.resourceVersion;
        handler.onList(listed.objects);
        handler.onLive();
      }
      for await (const next of watch(target, { version, handler, signal, transport })) {
        version = next;
        retry.reset();
      }
      // limits the rate of watches if the server ends them immediately
      await pause(FIRST_DELAY_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (isExpired(error)) {
        version = undefined;
      } else {
        const isFinal = isForbidden(error) || isNotFound(error);
        handler.onFailure(error, isFinal);
        if (isFinal) return;
      }
      await retry.wait(signal);
    }
  }
}

type List<T> = { metadata?: { resourceVersion?: string; continue?: string }; items?: T[] | null };

type ListOptions<T> = Pick<FollowOptions<T>, 'keep' | 'signal'> & { transport: Transport };

async function listAll<T>({ path, query }: ListTarget, { signal, transport: { call }, keep }: ListOptions<T>) {
  let objects: T[] = [];
  for (let next: string | undefined; ; ) {
    const list: List<T> = await call<List<T>>(path, { query: { ...query, limit: PAGE_SIZE, continue: next }, signal });
    objects.push(...(list.items ?? []));
    if (keep !== undefined) objects = keep(objects);
    next = list.metadata?.continue || undefined;
    if (next === undefined) return { objects, resourceVersion: list.metadata?.resourceVersion ?? '' };
  }
}

type WatchOptions<T> = { version: string; handler: ListHandler<T>; signal: AbortSignal; transport: Transport };

/** Yields resource versions from which the watch can be resumed. Ends when the server ends the watch, and throws if it fails. */
async function* watch<T extends KubeObject>(
  { path, query }: ListTarget,
  { version, handler, signal, transport }: WatchOptions<T>,
): AsyncGenerator<string> {
  const watching = { ...query, watch: 1, allowWatchBookmarks: true, resourceVersion: version };
  for await (const lines of linesOf(
    transport.stream(path, { query: watching, signal, onOpen: () => handler.onLive() }),
  )) {
    let newest: string | undefined;
    for (const line of lines) {
      const message = watchMessage<T>(line);
      if (message?.kind === 'error') throw message.error;
      if (message?.kind === 'change') handler.onChange(message.change);
      const seen =
        message?.kind === 'change' ? message.change.object.metadata.resourceVersion : message?.resourceVersion;
      newest = seen || newest;
    }
    if (newest !== undefined) yield newest;
  }
}
