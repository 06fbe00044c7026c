/** Tests of the contract that every store must fulfill, for watches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExpiredRevision, SlowWatcher } from './store-errors.ts';
import { SMALL_HISTORY, type WithStore } from './suite-tools.fixture.ts';
import { configMap, described, pod, podKey, take } from './test-objects.fixture.ts';

export function testWatches(withStore: WithStore): void {
  test(
    'a watch reports the changes after a revision, then those that follow, with the previous states',
    withStore(async (store) => {
      const { revision } = store.create(podKey('a'), pod('a'));
      const updated = store.update(podKey('a'), pod('a', 'n'), revision);
      const watch = store.watch('pods', { from: revision });
      const taken = take(watch, 3);
      await Promise.resolve();
      const last = store.delete(podKey('a'), updated.revision);
      const added = store.create(podKey('a'), pod('a'));
      const events = await taken;
      assert.deepEqual(described(events), [
        `MODIFIED default/a@${updated.revision}`,
        `DELETED default/a@${last.revision}`,
        `ADDED default/a@${added.revision}`,
      ]);
      assert.deepEqual(
        events.map(({ previous }) => previous?.revision),
        [revision, updated.revision, undefined],
      );
      assert.equal(events[0]!.object, updated);
    }),
  );

  test(
    'a watch of a namespace reports no changes of others, and is not slow because of them',
    withStore(
      async (store) => {
        const taken = take(store.watch('pods', { from: store.revision, namespace: 'default' }), 1);
        for (let index = 0; index < 10; index++) {
          store.create(podKey(`p${index}`, 'default-2'), pod('p'));
          await store.untilDurable();
          await new Promise(setImmediate);
        }
        const { revision } = store.create(podKey('a'), pod('a'));
        assert.deepEqual(described(await taken), [`ADDED default/a@${revision}`]);
      },
      { history: SMALL_HISTORY },
    ),
  );

  test(
    'a watch from a revision in the future reports only changes after it',
    withStore(async (store) => {
      const taken = take(store.watch('pods', { from: store.revision + 2 }), 1);
      for (const name of ['a', 'b', 'c']) store.create(podKey(name), pod(name));
      assert.deepEqual(described(await taken), [`ADDED default/c@${store.revision}`]);
    }),
  );

  test(
    'a watch from before the history throws: by number of events, or by bytes',
    withStore(
      async (store) => {
        const { revision } = store;
        for (const name of ['a', 'b', 'c', 'd']) store.create(podKey(name), pod(name));
        store.watch('pods', { from: revision });
        store.create(podKey('e'), pod('e'));
        assert.throws(() => store.watch('pods', { from: revision }), ExpiredRevision);
        store.watch('pods', { from: revision + 1 });
        const key = { resource: 'configmaps', namespace: 'default', name: 'large' };
        const first = store.create(key, configMap('large', 'x'.repeat(600_000)));
        const second = store.update(key, configMap('large', 'y'.repeat(600_000)), first.revision);
        await store.untilDurable();
        store.watch('configmaps', { from: revision });
        store.update(key, configMap('large', 'z'), second.revision);
        assert.throws(() => store.watch('configmaps', { from: first.revision }), ExpiredRevision);
        store.watch('configmaps', { from: second.revision });
      },
      { history: SMALL_HISTORY },
    ),
  );

  test(
    'a watch that does not read ends with its own error, others go on',
    withStore(
      async (store) => {
        const slow = store.watch('pods', { from: store.revision });
        const fast = store.watch('pods', { from: store.revision })[Symbol.asyncIterator]();
        const seen: string[] = [];
        for (const name of ['a', 'b', 'c', 'd', 'e']) {
          store.create(podKey(name), pod(name));
          seen.push(...described((await fast.next()).value));
        }
        assert.equal(seen.length, 5);
        await assert.rejects(take(slow, 1), SlowWatcher);
      },
      { history: SMALL_HISTORY },
    ),
  );

  test(
    'watches share the events',
    withStore(async (store) => {
      const watches = [1, 2].map(() => store.watch('pods', { from: store.revision }));
      store.create(podKey('a'), pod('a'));
      const [one, other] = await Promise.all(watches.map((watch) => take(watch, 1)));
      assert.equal(one![0], other![0]);
    }),
  );

  test(
    'the progress of a watch is behind changes that were not taken, and follows those of other resources',
    withStore(async (store) => {
      const { revision } = store;
      const watch = store.watch('pods', { from: revision });
      const iterator = watch[Symbol.asyncIterator]();
      store.create({ resource: 'services', namespace: 'default', name: 's' }, pod('s'));
      await store.untilDurable();
      assert.equal(watch.progress, revision + 1);
      store.create(podKey('a'), pod('a'));
      await store.untilDurable();
      assert.equal(watch.progress, revision);
      await iterator.next();
      assert.equal(watch.progress, revision + 2);
      assert.equal(store.watch('pods', { from: revision + 9 }).progress, revision + 9);
    }),
  );

  test(
    'a watch ends when its signal aborts, also while it waits',
    withStore(async (store) => {
      const end = new AbortController();
      const taken = take(store.watch('pods', { from: store.revision, signal: end.signal }), 1);
      await new Promise(setImmediate);
      end.abort();
      assert.deepEqual(await taken, []);
      assert.deepEqual(await take(store.watch('pods', { from: store.revision, signal: end.signal }), 1), []);
    }),
  );
}
