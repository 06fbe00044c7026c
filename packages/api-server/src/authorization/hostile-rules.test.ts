import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { StoreRbacSource } from './store-rbac-source.ts';
import { ALICE, binding, keyOf, request, role, storeOf } from './test-rbac.fixture.ts';

const COUNT = 1000;
const names = (prefix: string) => Array.from({ length: COUNT }, (_, index) => `${prefix}${index}`);

/** Runs a function several times and returns the shortest duration, in ms. */
function fastest(calls: number, call: () => void): number {
  const durations = Array.from({ length: calls }, () => {
    const before = performance.now();
    call();
    return performance.now() - before;
  });
  return Math.min(...durations);
}

test('a check of a thousand roles with a thousand rules reads at most 8 MiB, and the reason says so', (context) => {
  const lines = names('thing').map((thing) => `get,list example.com ${thing}`);
  const { rules } = role('same', ...lines);
  const roles = names('r').map((name) => ({ ...role(`shop/${name}`), rules: rules! }));
  const bindings = names('r').map((name) => binding(`shop/${name}`, `Role/${name}`, 'user alice'));
  const everywhere = binding('everywhere', 'ClusterRole/reader', 'user alice');
  const store = storeOf(...roles, ...bindings, everywhere, role('reader', 'get core pods'));
  const authorizer = new RbacAuthorizer(new StoreRbacSource(store));
  const check = () =>
    assert.deepEqual(authorizer.authorize(request('list core pods shop/x')), {
      decision: 'no opinion',
      reason: 'RBAC: the roles of user "alice" in namespace "shop" exceed 8388608 bytes',
    });
  context.diagnostic(`first ${fastest(1, check).toFixed(0)} ms, next ${fastest(3, check).toFixed(0)} ms`);
  assert.equal(authorizer.authorize(request('get core pods shop/x')).decision, 'allow');
  const { rules: own, errors } = authorizer.rulesFor(ALICE, 'shop');
  assert.ok(own.length > 10_000 && own.length < 200_000, `${own.length} rules`);
  assert.equal(errors.length, 1);
});

test('other users’ bindings do not slow down a check', (context) => {
  const store = storeOf(role('reader', 'get core pods'), binding('mine', 'ClusterRole/reader', 'user alice'));
  for (const namespace of ['', 'shop/'])
    for (const name of names('b')) {
      const object = binding(`${namespace}${name}`, 'ClusterRole/reader', ...names(`user ${name}-`).slice(0, 20));
      store.create(keyOf(object), object);
    }
  const authorizer = new RbacAuthorizer(new StoreRbacSource(store));
  const check = () => assert.equal(authorizer.authorize(request('list core pods shop/x')).decision, 'no opinion');
  const first = fastest(1, check);
  const next = fastest(20, check);
  const pod = { kind: 'Pod', metadata: { name: 'x', namespace: 'shop' } };
  const afterWrite = fastest(20, () => {
    const { revision } = store.create(keyOf(pod), pod);
    check();
    store.delete(keyOf(pod), revision);
  });
  context.diagnostic(
    `first ${first.toFixed(1)} ms, next ${next.toFixed(3)} ms, after a write ${afterWrite.toFixed(3)} ms`,
  );
  assert.ok(next < 1, `${next} ms`);
  assert.ok(afterWrite < 10, `${afterWrite} ms`);
});
