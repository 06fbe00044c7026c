import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { rulesReviewStatus } from './rules-review.ts';
import { StoreRbacSource } from './store-rbac-source.ts';
import { ALICE, binding, keyOf, request, role, rules, storeOf } from './test-rbac.fixture.ts';

const authorizerOf = (...objects: Parameters<typeof storeOf>) =>
  new RbacAuthorizer(new StoreRbacSource(storeOf(...objects)));

const READER = role('reader', 'read core pods', 'get /logs');

test('a ClusterRoleBinding applies everywhere and a RoleBinding in its namespace, and the reason names them', () => {
  const authorizer = authorizerOf(
    READER,
    role('shop/writer', 'write core pods'),
    binding('everywhere', 'ClusterRole/reader', 'user bob', 'group dev'),
    binding('shop/local', 'Role/writer', 'user alice'),
    binding('shop/lent', 'ClusterRole/reader', 'account ci/runner'),
  );
  const check = (line: string, expected: string, user = ALICE) => {
    const { decision, reason } = authorizer.authorize(request(line, user));
    assert.equal(decision === 'allow' ? reason : decision, expected, line);
  };
  const everywhere = 'RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "reader" to Group "dev"';
  check('get core pods', everywhere);
  check('get core pods other/x', everywhere);
  check('get /logs', everywhere);
  check('create core pods shop/', 'RBAC: allowed by RoleBinding "local/shop" of Role "writer" to User "alice"');
  check('create core pods other/', 'no opinion');
  check('create core pods', 'no opinion');
  const runner = { username: 'system:serviceaccount:ci:runner', groups: [] };
  check(
    'get core pods shop/x',
    'RBAC: allowed by RoleBinding "lent/shop" of ClusterRole "reader" to ServiceAccount "runner/ci"',
    runner,
  );
  check('get core pods ci/x', 'no opinion', runner);
  check('get core pods', 'no opinion', { username: 'dev', groups: ['alice', 'bob'] });
});

test('a service account without a namespace gets the RoleBinding’s, and matches nothing in a ClusterRoleBinding', () => {
  const subjects = [{ kind: 'ServiceAccount', name: 'runner' }];
  const authorizer = authorizerOf(
    READER,
    { ...binding('shop/local', 'ClusterRole/reader'), subjects },
    { ...binding('global', 'ClusterRole/reader'), subjects },
  );
  const decide = (namespace: string) =>
    authorizer.authorize(
      request('get core pods shop/x', { username: `system:serviceaccount:${namespace}:runner`, groups: [] }),
    ).decision;
  assert.deepEqual(['shop', 'other', ''].map(decide), ['allow', 'no opinion', 'no opinion']);
  const runner = { username: 'system:serviceaccount:shop:runner', groups: [] };
  assert.equal(
    authorizer.authorize(request('get core pods shop/x', runner)).reason,
    'RBAC: allowed by RoleBinding "local/shop" of ClusterRole "reader" to ServiceAccount "runner/shop"',
  );
});

test('missing roles are each listed once in the reason, and do not hide other roles', () => {
  const authorizer = authorizerOf(
    READER,
    binding('a', 'ClusterRole/absent', 'user alice'),
    binding('b', 'ClusterRole/absent', 'user alice'),
    binding('shop/c', 'Role/none', 'user alice'),
    binding('shop/d', 'ClusterRole/reader', 'user alice'),
    binding('shop/e', 'Group/x', 'user alice'),
  );
  const absent = 'clusterrole.rbac.authorization.k8s.io "absent" not found';
  const none = 'role.rbac.authorization.k8s.io "none" not found';
  const odd = 'unsupported role reference kind: "Group"';
  assert.deepEqual(authorizer.authorize(request('get core nodes')), {
    decision: 'no opinion',
    reason: `RBAC: ${absent}`,
  });
  assert.deepEqual(authorizer.authorize(request('get core nodes shop/x')), {
    decision: 'no opinion',
    reason: `RBAC: [${absent}, ${none}, ${odd}]`,
  });
  assert.equal(authorizer.authorize(request('get core pods shop/x')).decision, 'allow');
  assert.deepEqual(rulesReviewStatus(authorizer, ALICE, 'shop'), {
    resourceRules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] }],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/logs'] }],
    incomplete: false,
    evaluationError: `[${absent}, ${none}, ${odd}]`,
  });
});

test('a change to a binding or role applies to the next request', () => {
  const store = storeOf(READER);
  const authorizer = new RbacAuthorizer(new StoreRbacSource(store));
  const decide = () => authorizer.authorize(request('get core pods shop/x')).decision;
  assert.equal(decide(), 'no opinion');
  const lent = binding('shop/lent', 'ClusterRole/reader', 'user alice');
  const { revision } = store.create(keyOf(lent), lent);
  assert.equal(decide(), 'allow');
  const others = binding('shop/lent', 'ClusterRole/reader', 'user bob');
  const second = store.update(keyOf(lent), others, revision).revision;
  assert.equal(decide(), 'no opinion');
  const third = store.update(keyOf(lent), lent, second).revision;
  assert.equal(decide(), 'allow');
  const spare = binding('shop/spare', 'ClusterRole/reader', 'user carol');
  store.create(keyOf(spare), spare);
  store.delete(keyOf(lent), third);
  assert.equal(decide(), 'no opinion');
  const global = binding('global', 'ClusterRole/reader', 'group dev');
  store.create(keyOf(global), global);
  assert.equal(decide(), 'allow');
  const reader = store.get(keyOf(READER))!;
  store.update(keyOf(READER), { ...READER, rules: rules('get core nodes') }, reader.revision);
  assert.equal(decide(), 'no opinion');
});

test('deleting the last binding in a namespace applies to the next request', () => {
  const lent = binding('shop/lent', 'ClusterRole/reader', 'user alice');
  const store = storeOf(READER, lent);
  const authorizer = new RbacAuthorizer(new StoreRbacSource(store));
  const decide = () => authorizer.authorize(request('get core pods shop/x')).decision;
  assert.equal(decide(), 'allow');
  store.delete(keyOf(lent), store.get(keyOf(lent))!.revision);
  assert.equal(decide(), 'no opinion');
});
