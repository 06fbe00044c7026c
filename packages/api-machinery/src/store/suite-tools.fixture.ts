import assert from 'node:assert/strict';
import { errorCode } from '@podwright/base';
import type { ObjectStore, StoreOptions } from './object-store.ts';

/** Returns a test function that passes a new, empty store to `work` and closes it afterwards. */
export type WithStore = (work: (store: ObjectStore) => unknown, options?: StoreOptions) => () => Promise<void>;

export const SMALL_HISTORY = { maxEvents: 4, maxBytes: 1 << 20 };

export const throwsWith = (code: string, work: () => unknown): void =>
  assert.throws(work, (error) => {
    assert.equal(errorCode(error), code);
    return true;
  });

export const keysOf = (objects: readonly { key: string }[]): string[] => objects.map(({ key }) => key);
