/** Ways of keeping an API object up to date while pods use it: a watch per object, or repeated reads. */
import { errorMessage } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { type Informer, type InformerOptions, isApiStatus, type KubeClient } from '@podwright/kube-client';
import { OBJECT_READ_WAIT_MS, OBJECT_WATCH_SECONDS } from './limits.ts';

export type ObjectReference = { resource: Resource; namespace: string; name: string };

/** Called with the object after each read; with `undefined` if the object does not exist. */
export type OnRead = (object: KubeObject | undefined) => void;

export type ObjectFeed = {
  /** Rereads a stale object; no-op if it is being watched. Resolves after the read; never rejects. */
  refresh(): Promise<void>;
  /** Returns why the last read failed; `undefined` if it succeeded. */
  problem(): string | undefined;
  stop(): void;
};

export type FeedObject = (reference: ObjectReference, onRead: OnRead) => ObjectFeed;

export type StartInformer = <T extends KubeObject>(options: InformerOptions<T>) => Informer<T>;

/** Implements `configMapAndSecretChangeDetectionStrategy: Watch`. For an `immutable` object, the watch stops after the first read. */
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
      () => undefined, // the informer was stopped before its first list
    );
    return {
      // pods that have waited until the timeout do not wait again; `onRead` notifies them later
      refresh: () => (performance.now() - startedAtMs < OBJECT_READ_WAIT_MS ? synced : Promise.resolve()),
      problem: () => informer.problem(),
      stop: () => informer.stop(),
    };
  };
}

function isImmutable(object: KubeObject & { immutable?: unknown }): boolean {
  return object.immutable === true;
}

/**
 * Implements the `Cache` and `Get` strategies: refetches an object before use if the last read is more than `ttlMs` ago (0: before every
 * use). If the read fails, the cached object is retained.
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
