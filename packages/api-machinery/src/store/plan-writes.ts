import { PodwrightError } from '@podwright/base';
import type { ObjectKey, StoreEvent, Write } from './object-store.ts';
import { keyOf, nameOf } from './store-errors.ts';
import { StoredObject } from './stored-object.ts';

/** The current state of the store, on which the writes are based: its revision, and a function that returns a stored object. */
export type PresentState = { revision: number; get: (key: ObjectKey) => StoredObject | undefined };

/**
 * Returns the events that a transaction will cause, without changing anything. Throws if the current state does not allow one of the
 * writes.
 */
export function planWrites(writes: readonly Write[], { revision, get }: PresentState): StoreEvent[] {
  refuseRepeated(writes);
  return writes.map((write, index) => planWrite(write, get(write.key), revision + index + 1));
}

function refuseRepeated(writes: readonly Write[]): void {
  if (writes.length < 2) return;
  const seen = new Set<string>();
  for (const { key } of writes) {
    const name = nameOf(key);
    if (seen.has(name))
      throw new PodwrightError('invalid_argument', `write ${name}: a transaction may write an object only once`);
    seen.add(name);
  }
}

function planWrite(write: Write, previous: StoredObject | undefined, revision: number): StoreEvent {
  const { type, key } = write;
  if (type === 'create') {
    if (previous !== undefined) throw new PodwrightError('already_exists', `create ${nameOf(key)}: it exists`);
    return { type: 'ADDED', object: StoredObject.encode(keyOf(key), revision, write.object) };
  }
  if (previous === undefined) throw new PodwrightError('not_found', `${type} ${nameOf(key)}: it does not exist`);
  if (previous.revision !== write.expected)
    throw new PodwrightError(
      'aborted',
      `${type} ${nameOf(key)}: its revision is ${previous.revision}, not ${write.expected}`,
    );
  return type === 'update'
    ? { type: 'MODIFIED', object: StoredObject.encode(previous.key, revision, write.object), previous }
    : { type: 'DELETED', object: previous.withRevision(revision), previous };
}
