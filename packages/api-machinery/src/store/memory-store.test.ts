import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JournalEntry, NO_JOURNAL } from './journal.ts';
import { MemoryStore } from './memory-store.ts';
import { objectStoreSuite } from './object-store.suite.ts';
import { ExpiredRevision } from './store-errors.ts';
import { pod, podKey } from './test-objects.fixture.ts';

objectStoreSuite('in memory', (options) => new MemoryStore(options));

test('a store begins above the revisions of earlier processes, and reserves its own with its first write', () => {
  const entries: JournalEntry[] = [];
  const journal = { ...NO_JOURNAL, reservedRevision: 7, record: (entry: JournalEntry) => entries.push(entry) };
  const store = new MemoryStore({}, journal);
  assert.equal(store.revision, 8);
  assert.throws(() => store.watch('pods', { from: 7 }), ExpiredRevision);
  store.watch('pods', { from: 8 });
  for (const name of ['a', 'b']) store.create(podKey(name), pod(name));
  assert.deepEqual(
    entries.map(({ changes, reserve }) => [changes[0]!.object.revision, reserve]),
    [
      [9, 100_009],
      [10, undefined],
    ],
  );
});
