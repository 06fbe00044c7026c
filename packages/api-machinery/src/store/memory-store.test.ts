import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JournalEntry, NO_JOURNAL } from './journal.ts';
import { MemoryStore } from './memory-store.ts';
import { objectStoreSuite } from './object-store.suite.ts';
import { ExpiredRevision } from './store-errors.ts';
import { pod, podKey } from './test-objects.fixture.ts';

objectStoreSuite('in memory', (options) => new MemoryStore(options));

test('a store starts above the revisions of earlier processes, and reserves its own on its first write', () => {
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

test('changes older than five minutes are dropped from the history on the next write of any resource', (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const store = new MemoryStore();
  const begin = store.revision;
  const { revision } = store.create(podKey('a'), pod('a'));
  nowMs = 200_000;
  const second = store.create(podKey('b'), pod('b')).revision;
  store.watch('pods', { from: begin });
  nowMs = 320_000;
  store.create({ resource: 'leases', namespace: 'default', name: 'c' }, pod('c'));
  assert.throws(() => store.watch('pods', { from: begin }), ExpiredRevision);
  store.watch('pods', { from: revision });
  nowMs = 700_000;
  store.create({ resource: 'leases', namespace: 'default', name: 'd' }, pod('d'));
  assert.throws(() => store.watch('pods', { from: revision }), ExpiredRevision);
  store.watch('pods', { from: second });
});
