import { PodwrightError } from '@podwright/base';
import type { ObjectKey } from './object-store.ts';

/** The history does not go back to the requested revision, so the client must list again. Sent as status code 410 with reason Expired. */
export class ExpiredRevision extends PodwrightError {
  /** The oldest revision that the history can be read from. */
  readonly oldest: number;

  constructor(resource: string, { revision, oldest }: { revision: number; oldest: number }) {
    super('out_of_range', `read ${resource} from revision ${revision}: the history begins at revision ${oldest}`);
    this.oldest = oldest;
  }
}

/** The history dropped changes that the watch had not read yet. The watch has ended and the client must list again. */
export class SlowWatcher extends PodwrightError {
  constructor(resource: string) {
    super('resource_exhausted', `watch ${resource}: the watcher did not read changes before the history dropped them`);
  }
}

/** Returns the object's key within its resource, which is the sort key of lists. */
export const keyOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

/** Returns the object's name for use in messages. */
export const nameOf = (key: ObjectKey): string => `${key.resource} ${keyOf(key)}`;

/** A write would exceed the limit for a single object or for all objects. The message starts with etcd's, which clients recognize. */
export class OutOfSpace extends PodwrightError {
  constructor(message: string) {
    super('resource_exhausted', message);
  }
}
