import {
  ExpiredRevision,
  type ObjectStore,
  SlowWatcher,
  type StoredObject,
  type StoreEvent,
} from '@podwright/api-machinery';
import { errorMessage, type Logger, pause } from '@podwright/base';

export type Follower = {
  /** Called with all objects of the resource at the start, and again if the watch has missed changes. */
  listed: (objects: readonly StoredObject[]) => void | Promise<void>;
  changed: (event: StoreEvent) => void | Promise<void>;
};

export type FollowParts = { store: ObjectStore; logger: Pick<Logger, 'warn'>; signal: AbortSignal };

const RETRY_MS = 1000;

/**
 * Reports a resource's objects and their changes until the signal aborts. Errors thrown by the follower are logged and lead to a relist.
 */
export async function followResource(resource: string, follower: Follower, parts: FollowParts): Promise<void> {
  const { logger, signal } = parts;
  while (!signal.aborted) {
    try {
      await followOnce(resource, follower, parts);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ExpiredRevision || error instanceof SlowWatcher) continue;
      logger.warn({ resource, error: errorMessage(error) }, 'a controller failed, trying again');
      await pause(RETRY_MS, signal);
    }
  }
}

/** Reports every version of a resource's objects until the signal aborts. */
export function followStates(
  resource: string,
  seen: (object: StoredObject) => void,
  parts: FollowParts,
): Promise<void> {
  const listed = (objects: readonly StoredObject[]) => objects.forEach((object) => void seen(object));
  const changed = ({ type, object }: StoreEvent) => {
    if (type !== 'DELETED') seen(object);
  };
  return followResource(resource, { listed, changed }, parts);
}

async function followOnce(resource: string, { listed, changed }: Follower, { store, signal }: FollowParts) {
  const { revision, objects } = store.list(resource);
  await listed(objects);
  for await (const events of store.watch(resource, { from: revision, signal })) {
    for (const event of events) await changed(event);
  }
}
