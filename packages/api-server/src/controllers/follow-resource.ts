import {
  ExpiredRevision,
  type ObjectStore,
  SlowWatcher,
  type StoredObject,
  type StoreEvent,
} from '@podwright/api-machinery';
import { errorMessage, type Logger, pause } from '@podwright/base';

export type Follower = {
  /** The objects at the start, and again if changes were missed. */
  listed: (objects: readonly StoredObject[]) => void | Promise<void>;
  changed: (event: StoreEvent) => void | Promise<void>;
};

export type FollowParts = { store: ObjectStore; logger: Pick<Logger, 'warn'>; signal: AbortSignal };

const RETRY_MS = 1000;

/** Reports the objects of a resource and their changes until the signal aborts. An error of the follower is logged, and all is listed again. */
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

/** Reports each state of the objects of a resource until the signal aborts. */
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
