import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { errorCode, errorMessage } from '@podwright/base';
import { GroupSync } from './group-sync.ts';
import { type Journal, NO_JOURNAL } from './journal.ts';
import { MemoryStore } from './memory-store.ts';
import type { HistoryBounds } from './object-store.ts';
import { configMap, described, podKey, take } from './test-objects.fixture.ts';

/** Syncs that do not finish until the test calls `end`. */
class HeldSyncs {
  readonly #begun: PromiseWithResolvers<void>[] = [];
  ended = 0;

  get running(): number {
    return this.#begun.length - this.ended;
  }

  begin = (): Promise<void> => {
    const one = Promise.withResolvers<void>();
    this.#begun.push(one);
    return one.promise;
  };

  async end(error?: Error): Promise<void> {
    const one = this.#begun[this.ended++]!;
    if (error === undefined) one.resolve();
    else one.reject(error);
    await settled();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function groupSync() {
  const syncs = new HeldSyncs();
  const durable: number[] = [];
  const failures: string[] = [];
  const sync = new GroupSync({
    sync: syncs.begin,
    durable: (revision) => durable.push(revision),
    onFailed: (error) => failures.push(error.message),
  });
  return { sync, syncs, durable, failures };
}

suite('group sync', () => {
  test('writes recorded during a sync share the next sync', async () => {
    const { sync, syncs, durable } = groupSync();
    sync.written(1, true);
    for (const revision of [2, 3, 4]) sync.written(revision, true);
    assert.equal(syncs.running, 1);
    await syncs.end();
    assert.deepEqual(durable, [1]);
    assert.equal(syncs.running, 1);
    await syncs.end();
    assert.deepEqual(durable, [1, 4]);
    assert.equal(syncs.running, 0);
    assert.equal(sync.until(), undefined);
  });

  test('a caller waits for the sync that covers its write, not for later ones', async () => {
    const { sync, syncs } = groupSync();
    const done: string[] = [];
    sync.written(1, true);
    void sync.until()?.then(() => done.push('first'));
    sync.written(2, true);
    void sync.until()?.then(() => done.push('second'));
    await syncs.end();
    assert.deepEqual(done, ['first']);
    await syncs.end();
    assert.deepEqual(done, ['first', 'second']);
  });

  test('unrecorded writes cause no sync, and are reported in revision order', async () => {
    const { sync, syncs, durable } = groupSync();
    sync.written(1, false);
    assert.deepEqual(durable, [1]);
    assert.equal(sync.until(), undefined);
    sync.written(2, true);
    sync.written(3, false);
    assert.deepEqual(durable, [1]);
    await syncs.end();
    assert.deepEqual(durable, [1, 3]);
    assert.equal(syncs.running, 0);
  });

  test('after a failed sync, waiting callers get the error, and later writes are refused', async () => {
    const { sync, syncs, durable, failures } = groupSync();
    sync.written(1, true);
    const first = assert.rejects(sync.until()!, /input\/output error/);
    sync.written(2, true);
    const second = assert.rejects(sync.until()!, /input\/output error/);
    sync.check();
    await syncs.end(new Error('input/output error'));
    await Promise.all([first, second]);
    assert.deepEqual(durable, [2], 'writes that may be on disk stay visible');
    assert.equal(syncs.running, 0);
    assert.equal(failures.length, 1);
    assert.throws(
      () => sync.check(),
      (error) => errorCode(error) === 'unavailable',
    );
  });
});

suite('a store whose journal must be synced', () => {
  function open(history?: HistoryBounds) {
    const syncs = new HeldSyncs();
    const journal: Journal = { ...NO_JOURNAL, sync: syncs.begin };
    return { syncs, store: new MemoryStore({ volatile: ['leases'], history }, journal) };
  }

  test('reports changes to watches once they are durable, and returns them to reads immediately', async () => {
    const { syncs, store } = open();
    const { revision } = store;
    const watch = store.watch('pods', { from: revision });
    const taken = take(watch, 1);
    const created = store.create(podKey('a'), configMap('a', ''));
    assert.equal(store.get(podKey('a')), created);
    assert.equal(store.list('pods').objects.length, 1);
    store.update(podKey('a'), configMap('a', 'text'), created.revision);
    await settled();
    assert.equal(watch.progress, revision, 'a bookmark does not include writes that are not durable');
    await syncs.end();
    assert.deepEqual(described(await taken), [`ADDED default/a@${created.revision}`]);
    assert.notEqual(store.untilDurable(), undefined);
    await syncs.end();
    assert.equal(store.untilDurable(), undefined);
    const past = store.list('pods', { revision: created.revision });
    assert.equal(past.objects[0], created);
  });

  test('does not report an earlier change to a watch that starts before that change is durable', async () => {
    const { syncs, store } = open();
    store.create(podKey('a'), configMap('a', ''));
    const taken = take(store.watch('pods', { from: store.revision }), 1);
    await syncs.end();
    const { revision } = store.create(podKey('b'), configMap('b', ''));
    await syncs.end();
    assert.deepEqual(described(await taken), [`ADDED default/b@${revision}`]);
  });

  test('retains large changes until they are durable and watches can read them', async () => {
    const { syncs, store } = open({ maxEvents: 10, maxBytes: 1000 });
    const { revision } = store.create(podKey('a'), configMap('a', 'x'.repeat(600)));
    await syncs.end();
    const taken = take(store.watch('pods', { from: revision }), 3);
    let last = revision;
    for (const text of ['1', '2', '3'])
      last = store.update(podKey('a'), configMap('a', text.repeat(600)), last).revision;
    await syncs.end();
    await syncs.end();
    assert.equal((await taken).length, 3);
  });

  test('does not sync for volatile objects', async () => {
    const { syncs, store } = open();
    store.create({ ...podKey('first'), resource: 'leases' }, configMap('first', '')); // reserves revisions
    await syncs.end();
    store.create({ ...podKey('n'), resource: 'leases' }, configMap('n', ''));
    assert.equal(syncs.running, 0);
    assert.equal(store.untilDurable(), undefined);
  });

  test('refuses writes after a failed sync, but still serves reads and writes of volatile objects', async () => {
    const { syncs, store } = open();
    store.create(podKey('a'), configMap('a', ''));
    const failed = assert.rejects(store.untilDurable()!, /sync the objects: no/);
    await syncs.end(new Error('no'));
    await failed;
    assert.throws(
      () => store.create(podKey('b'), configMap('b', '')),
      (error) => errorCode(error) === 'unavailable' && /no$/.test(errorMessage(error)),
    );
    assert.equal(store.list('pods').objects.length, 1);
    store.create({ ...podKey('n'), resource: 'leases' }, configMap('n', ''));
  });
});
