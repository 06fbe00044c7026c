/** Tests of the contract that every store must fulfill, for lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExpiredRevision } from './store-errors.ts';
import { keysOf, SMALL_HISTORY, throwsWith, type WithStore } from './suite-tools.fixture.ts';
import { nodeNameOf, pod, podKey } from './test-objects.fixture.ts';

const BY_NODE = { pods: { 'spec.nodeName': nodeNameOf } };

export function testLists(withStore: WithStore): void {
  test(
    'lists have the byte order of namespace/name, of one namespace or all',
    withStore((store) => {
      for (const key of ['a/x', 'b/x', 'a-b/x', 'a/w', 'a0/x', 'a/y']) {
        const [namespace, name] = key.split('/');
        store.create(podKey(name!, namespace), pod(name!));
      }
      const { objects, revision, rest } = store.list('pods');
      assert.deepEqual(keysOf(objects), ['a-b/x', 'a/w', 'a/x', 'a/y', 'a0/x', 'b/x']);
      assert.deepEqual([revision, rest], [store.revision, undefined]);
      assert.equal(store.list('pods', { limit: 0 }).objects.length, 6);
      assert.deepEqual(keysOf(store.list('pods', { namespace: 'a' }).objects), ['a/w', 'a/x', 'a/y']);
      assert.deepEqual(store.list('services').objects, []);
    }),
  );

  test(
    'the pages of a list show the state of the first page, whatever changes between them',
    withStore((store) => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) store.create(podKey(name), pod(name));
      const first = store.list('pods', { limit: 2 });
      assert.deepEqual([keysOf(first.objects), first.rest?.count], [['default/a', 'default/b'], 3]);
      const c = store.get(podKey('c'))!;
      store.update(podKey('c'), pod('c', 'n'), c.revision);
      store.delete(podKey('d'), store.get(podKey('d'))!.revision);
      store.create(podKey('d'), pod('d', 'n'));
      store.create(podKey('cc'), pod('cc'));
      const second = store.list('pods', { limit: 2, continuation: first.rest!.continuation });
      assert.deepEqual(keysOf(second.objects), ['default/c', 'default/d']);
      assert.deepEqual(second.objects[0], c);
      assert.equal(nodeNameOf(second.objects[1]!.decode()), undefined);
      assert.equal(second.revision, first.revision);
      const third = store.list('pods', { limit: 2, continuation: second.rest!.continuation });
      assert.deepEqual([keysOf(third.objects), third.rest], [['default/e'], undefined]);
      const now = store.list('pods', { continuation: { ...first.rest!.continuation, revision: store.revision } });
      assert.deepEqual(keysOf(now.objects), ['default/c', 'default/cc', 'default/d', 'default/e']);
    }),
  );

  test(
    'a list of an earlier revision is exact while the history reaches back to it',
    withStore(
      (store) => {
        const { revision } = store.create(podKey('a'), pod('a'));
        const updated = store.update(podKey('a'), pod('a', 'n'), revision);
        store.delete(podKey('a'), updated.revision);
        assert.deepEqual(store.list('pods', { revision }).objects[0]?.revision, revision);
        assert.deepEqual(store.list('pods', { revision: updated.revision }).objects, [updated]);
        assert.deepEqual(store.list('pods', { revision: revision - 1 }).objects, []);
        throwsWith('out_of_range', () => store.list('pods', { revision: store.revision + 1 }));
        for (const name of ['b', 'c', 'd']) store.create(podKey(name), pod(name));
        assert.throws(() => store.list('pods', { revision }), ExpiredRevision);
        assert.deepEqual(store.list('pods', { revision: updated.revision }).objects, [updated]);
      },
      { history: SMALL_HISTORY },
    ),
  );

  test(
    'an index finds the objects with a value, in a namespace or all, also in an earlier state',
    withStore(
      (store) => {
        const byNode = (value: string, others = {}) =>
          keysOf(store.list('pods', { index: { name: 'spec.nodeName', value }, ...others }).objects);
        store.create(podKey('a'), pod('a', 'n1'));
        store.create(podKey('b', 'other'), pod('b', 'n1'));
        assert.deepEqual(byNode('n1'), ['default/a', 'other/b']);
        const c = store.create(podKey('c'), pod('c'));
        assert.deepEqual(byNode('n1', { namespace: 'other' }), ['other/b']);
        const { revision } = store.update(podKey('c'), pod('c', 'n1'), c.revision);
        const a = store.update(podKey('a'), pod('a', 'n2'), store.get(podKey('a'))!.revision);
        assert.deepEqual([byNode('n1'), byNode('n2')], [['default/c', 'other/b'], ['default/a']]);
        store.delete(podKey('a'), a.revision);
        assert.deepEqual([byNode('n2'), byNode('n3')], [[], []]);
        assert.deepEqual(byNode('n1', { revision }), ['default/a', 'default/c', 'other/b']);
        assert.deepEqual(byNode('n1', { revision, namespace: 'other' }), ['other/b']);
        assert.deepEqual(byNode('n1', { limit: 1 }), ['default/c']);
        throwsWith('invalid_argument', () => store.list('pods', { index: { name: 'x', value: '' } }));
      },
      { indexes: BY_NODE },
    ),
  );
}
