/** How one object is kept up to date while pods use it: by a watch of its own, or by being fetched again. */
import { errorMessage } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { type Informer, type InformerOptions, isApiStatus, type KubeClient } from '@podwright/kube-client';
import { OBJECT_PATIENCE_MS, OBJECT_WATCH_SECONDS } from './limits.ts';

export type ObjectPlace = { resource: Resource; namespace: string; name: string };

/** Called with what was read; undefined where there is none. */
export type OnRead = (object: KubeObject | undefined) => void;

export type ObjectFeed = {
  /** Brings the object up to date where that is to be done by asking, and resolves once it has been read; never rejects. */
  refresh(): Promise<void>;
  /** Why it could not be read the last time. */
  problem(): string | undefined;
  stop(): void;
};

export type FeedObject = (place: ObjectPlace, onRead: OnRead) => ObjectFeed;

export type StartInformer = <T extends KubeObject>(options: InformerOptions<T>) => Informer<T>;

/** `configMapAndSecretChangeDetectionStrategy: Watch`. The watch of an object that is `immutable` ends when it has been read. */
export function watchObjects(startInformer: StartInformer): FeedObject {
  return ({ resource, namespace, name }, onRead) => {
    const startedAtMs = performance.now();
    const read = (object: KubeObject | undefined) => {
      if (object !== undefined && isImmutable(object)) informer.stop();
      onRead(object);
    };
    const informer = startInformer<KubeObject>({
      resource,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      watchSeconds: OBJECT_WATCH_SECONDS,
      onChange: ({ type, object }) => {
        if (informer.hasSynced() && object.metadata.name === name) read(type === 'DELETED' ? undefined : object);
      },
    });
    const synced = informer.synced.then(
      () => read(informer.get({ namespace, name })),
      () => undefined, // stopped before
    );
    return {
      // whoever waited in vain once is told when it has been read
      refresh: () => (performance.now() - startedAtMs < OBJECT_PATIENCE_MS ? synced : Promise.resolve()),
      problem: () => informer.problem(),
      stop: () => informer.stop(),
    };
  };
}

function isImmutable(object: KubeObject & { immutable?: unknown }): boolean {
  return object.immutable === true;
}

/**
 * `Cache` and `Get`: an object that was read longer ago than `ttlMs` is fetched again before it is used, with 0 each time. One that
 * cannot be fetched stays as it was.
 */
export function fetchObjects(client: Pick<KubeClient, 'get'>, ttlMs: () => number): FeedObject {
  return ({ resource, namespace, name }, onRead) => {
    const stopped = new AbortController();
    let readAtMs = Number.NEGATIVE_INFINITY;
    let problem: string | undefined;
    let fetching: Promise<void> | undefined;
    const fetch = async () => {
      try {
        onRead(await client.get<KubeObject>(resource, { namespace, name }, { signal: stopped.signal }));
      } catch (error) {
        problem = errorMessage(error);
        if (!isApiStatus(error, 404)) return;
        onRead(undefined);
      } finally {
        fetching = undefined;
      }
      problem = undefined;
      readAtMs = performance.now();
    };
    return {
      refresh: () => {
        if (performance.now() - readAtMs < ttlMs()) return Promise.resolve();
        fetching ??= fetch();
        return fetching;
      },
      problem: () => problem,
      stop: () => stopped.abort(),
    };
  };
}
