/** Tests of the contract that every store must fulfill. */
import { suite } from 'node:test';
import type { ObjectStore, StoreOptions } from './object-store.ts';
import { testLists } from './store-lists.suite.ts';
import { testObjects } from './store-objects.suite.ts';
import { testWatches } from './store-watches.suite.ts';
import type { WithStore } from './suite-tools.fixture.ts';

/** Defines the tests. `open` opens a new, empty store, which the suite closes after each test. */
export function objectStoreSuite(name: string, open: (options?: StoreOptions) => ObjectStore): void {
  const withStore: WithStore = (work, options) => async () => {
    const store = open(options);
    try {
      await work(store);
    } finally {
      store.close();
    }
  };
  suite(`object store ${name}: objects`, () => testObjects(withStore));
  suite(`object store ${name}: lists`, () => testLists(withStore));
  suite(`object store ${name}: watches`, () => testWatches(withStore));
}
