import { PodwrightError } from '@podwright/base';
import type { ObjectKey } from './object-store.ts';

/**
 * The history does not reach back to the requested revision, so the client must list again. Sent as status code 410 with reason Expired.
 */
export class ExpiredRevision extends PodwrightError {
  /** The oldest revision from which the history can be read. */
  readonly oldest: number;

  constructor(resource: string, { revision, oldest }: { revision: number; oldest: number }) {
    super('out_of_range', `read ${resource} from revision ${revision}: the history begins at revision ${oldest}`);
    this.oldest = oldest;
  }
}

/** The history dropped changes that the watch had not read yet. The watch has ended, and the client must list again. */
export class SlowWatcher extends PodwrightError {
  constructor(resource: string) {
    super('resource_exhausted', `watch ${resource}: the watcher did not read changes before the history dropped them`);
  }
}

/** Returns the object's key within its resource. Lists are ordered by it. */
export const keyOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

/** Returns the object's name as shown in messages. */
export const nameOf = (key: ObjectKey): string => `${key.resource} ${keyOf(key)}`;

/** A write would exceed a bound for the size of an object or of all objects. The message begins with that of etcd, which clients know. */
export class OutOfSpace extends PodwrightError {
  constructor(message: string) {
    super('resource_exhausted', message);
  }
}
