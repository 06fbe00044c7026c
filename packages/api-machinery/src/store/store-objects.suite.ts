/** Tests of the contract that every store must fulfill, for reads and writes of objects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keysOf, throwsWith, type WithStore } from './suite-tools.fixture.ts';
import { described, nodeNameOf, pod, podKey, take } from './test-objects.fixture.ts';

export function testObjects(withStore: WithStore): void {
  test(
    'an object has the revision of its write as its resourceVersion, whatever the caller gave',
    withStore((store) => {
      const given = pod('a');
      given.metadata.resourceVersion = '99';
      const stored = store.create(podKey('a'), given);
      assert.equal(stored.revision, store.revision);
      const metadata = { ...pod('a').metadata, resourceVersion: String(stored.revision) };
      assert.deepEqual(JSON.parse(stored.bytes.toString()), { ...pod('a'), metadata });
      assert.deepEqual(stored.decode(), { ...pod('a'), metadata });
      assert.equal(store.get(podKey('a')), stored);
      assert.equal(store.get(podKey('a', 'other')), undefined);
      assert.equal(store.get({ ...podKey('a'), resource: 'services' }), undefined);
    }),
  );

  test(
    'all resources share one counter, and each write has the next revision, also a deletion',
    withStore((store) => {
      const { revision: begin } = store;
      const first = store.create(podKey('a'), pod('a'));
      store.create({ resource: 'nodes', namespace: '', name: 'n' }, { metadata: { name: 'n' } });
      const updated = store.update(podKey('a'), pod('a', 'n'), first.revision);
      const last = store.delete(podKey('a'), updated.revision);
      assert.deepEqual([first.revision, updated.revision, last.revision], [begin + 1, begin + 3, begin + 4]);
      assert.equal(last.decode().metadata.resourceVersion, String(begin + 4));
      assert.equal(nodeNameOf(last.decode()), 'n');
      assert.equal(store.get(podKey('a')), undefined);
    }),
  );

  test(
    'a refused write changes nothing',
    withStore((store) => {
      const { revision } = store.create(podKey('a'), pod('a'));
      throwsWith('already_exists', () => store.create(podKey('a'), pod('a')));
      throwsWith('not_found', () => store.update(podKey('b'), pod('b'), revision));
      throwsWith('not_found', () => store.delete(podKey('b'), revision));
      throwsWith('aborted', () => store.update(podKey('a'), pod('a', 'n'), revision - 1));
      throwsWith('aborted', () => store.delete(podKey('a'), revision + 1));
      assert.equal(store.revision, revision);
      assert.equal(nodeNameOf(store.get(podKey('a'))!.decode()), undefined);
    }),
  );

  test(
    'a transaction makes all writes in their order, or none',
    withStore(async (store) => {
      const { revision: begin } = store;
      const create = (name: string) => ({ type: 'create', key: podKey(name), object: pod(name) }) as const;
      const [a, b] = store.transaction([create('a'), create('b')]);
      assert.deepEqual([a!.revision, b!.revision], [begin + 1, begin + 2]);
      throwsWith('already_exists', () => store.transaction([create('c'), create('a')]));
      throwsWith('invalid_argument', () => store.transaction([create('c'), create('c')]));
      assert.deepEqual(keysOf(store.list('pods').objects), ['default/a', 'default/b']);
      assert.equal(store.revision, begin + 2);
      store.transaction([
        { type: 'delete', key: podKey('b'), expected: b!.revision },
        { type: 'update', key: podKey('a'), object: pod('a', 'n'), expected: a!.revision },
        { type: 'create', key: { resource: 'services', namespace: 'default', name: 's' }, object: pod('s') },
      ]);
      const events = await take(store.watch('pods', { from: begin + 2 }), 2);
      assert.deepEqual(described(events), [`DELETED default/b@${begin + 3}`, `MODIFIED default/a@${begin + 4}`]);
      assert.equal(store.list('services').objects[0]!.revision, begin + 5);
    }),
  );
}
