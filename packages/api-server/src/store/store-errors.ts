import { PodwrightError } from '@podwright/base';
import type { ObjectKey } from './object-store.ts';

/** The history does not reach back to a revision: the client must list again. Status code 410, reason Expired. */
export class ExpiredRevision extends PodwrightError {
  constructor(resource: string, { revision, oldest }: { revision: number; oldest: number }) {
    super('out_of_range', `read ${resource} from revision ${revision}: the history begins at revision ${oldest}`);
  }
}

/** A watch did not read changes before the history dropped them: it has ended, and the client must list again. */
export class SlowWatcher extends PodwrightError {
  constructor(resource: string) {
    super('resource_exhausted', `watch ${resource}: the watcher did not read changes before the history dropped them`);
  }
}

/** The object's key within its resource, which is also its place in lists. */
export const keyOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

/** How messages name an object. */
export const nameOf = (key: ObjectKey): string => `${key.resource} ${keyOf(key)}`;
