import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiObject, MASTERS } from '@podwright/kube-kinds';
import { EscalationCheck, type RbacWrite } from './escalation-check.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { StoreRbacSource } from './store-rbac-source.ts';
import { ALICE, binding, role, storeOf } from './test-rbac.fixture.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Returns why a write by alice is refused. She has the rules `cluster` cluster-wide and the rules `shop` in the namespace `shop`. */
function refusal(write: Partial<RbacWrite> & { object: ApiObject }, { cluster = '', shop = '' } = {}) {
  const lines = (text: string) => (text === '' ? [] : text.split('; '));
  const store = storeOf(
    role('own', ...lines(cluster)),
    role('local', ...lines(shop)),
    role('target', 'get,list core pods'),
    role('shop/target', 'get core secrets'),
    binding('own', 'ClusterRole/own', 'user alice'),
    binding('shop/local', 'ClusterRole/local', 'user alice'),
  );
  const source = new StoreRbacSource(store);
  const authorizer = new RbacAuthorizer(source);
  const { kind = '', metadata } = write.object;
  const resource = `${kind.toLowerCase()}s` as RbacWrite['resource'];
  const place = { resource, namespace: metadata.namespace ?? '', name: '' };
  return new EscalationCheck({ authorizer, rules: authorizer, source }).refusalOf({ user: ALICE, ...place, ...write });
}

const lacks = (...rules: string[]) => ({
  reason: 'Forbidden',
  message: `user "alice" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${rules.join('\n')}`,
});

test('a role may grant only what its writer may do in that namespace', () => {
  const object = role('shop/new', 'get core pods');
  assert.equal(refusal({ object }, { cluster: 'get core pods' }), undefined);
  assert.equal(refusal({ object }, { shop: 'get core pods' }), undefined);
  const missing = lacks('{APIGroups:[""], Resources:["pods"], Verbs:["get"]}');
  assert.deepEqual(refusal({ object }), missing);
  assert.deepEqual(refusal({ object: role('new', 'get core pods') }, { shop: 'get core pods' }), missing);
});

test('the message lists the missing rules in order, grouping verbs on the same resource', () => {
  const object = role('new', 'get,list apps deployments', 'watch apps deployments', 'get core pods b,a', 'get,put /x');
  assert.deepEqual(
    refusal({ object }, { cluster: 'list apps deployments' }),
    lacks(
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
      '{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "watch"]}',
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["put"]}',
    ),
  );
});

test('escalate allows writing any role that matches the rule’s name and namespace', () => {
  const object = role('shop/new', '* * *');
  const check = (shop: string, isAllowed: boolean, name = 'new') =>
    assert.equal(refusal({ object, name }, { shop }) === undefined, isAllowed, shop);
  check(`escalate ${RBAC} roles`, true);
  check(`escalate ${RBAC} roles new`, true);
  check(`escalate ${RBAC} roles new`, false, '');
  check(`escalate ${RBAC} roles other`, false);
  check(`escalate ${RBAC} clusterroles`, false);
  check(`bind ${RBAC} roles`, false);
  assert.equal(
    refusal({ object: role('new', '* * *') }, { shop: `escalate ${RBAC} clusterroles` })?.reason,
    'Forbidden',
  );
});

test('members of system:masters may write any role', () => {
  const user = { username: 'root', groups: [MASTERS] };
  assert.equal(refusal({ user, object: role('new', '* * *') }), undefined);
  assert.equal(refusal({ user, object: binding('new', 'ClusterRole/absent') }), undefined);
});

test('setting or removing an aggregation rule requires all permissions', () => {
  const plain = role('new');
  const aggregated = { ...plain, aggregationRule: { clusterRoleSelectors: [{}] } };
  const refused = { reason: 'Forbidden', message: 'must have cluster-admin privileges to use the aggregationRule' };
  assert.deepEqual(refusal({ object: aggregated }, { cluster: 'get * *; * *' }), refused);
  assert.deepEqual(refusal({ object: plain, old: aggregated }, { cluster: 'get * *; * *' }), refused);
  assert.equal(refusal({ object: aggregated }, { cluster: '* * *; * *' }), undefined);
  assert.equal(refusal({ object: { ...plain, aggregationRule: { clusterRoleSelectors: [] } } }), undefined);
});

test('a binding may refer only to a role whose rules its writer holds or may bind', () => {
  const check = (to: string, rights: { cluster?: string; shop?: string }, expected?: string) =>
    assert.equal(
      refusal({ object: binding('shop/new', to, 'user eve') }, rights)?.reason,
      expected,
      JSON.stringify(rights),
    );
  check('Role/target', {}, 'Forbidden');
  check('Role/target', { shop: 'get core secrets' });
  check('ClusterRole/target', { shop: 'get core secrets' }, 'Forbidden');
  check('ClusterRole/target', { shop: 'get,list core pods' });
  check('Role/target', { shop: `bind ${RBAC} roles target` });
  check('ClusterRole/target', { shop: `bind ${RBAC} clusterroles target` });
  check('ClusterRole/target', { shop: `bind ${RBAC} roles target` }, 'Forbidden');
  check('ClusterRole/target', { shop: `bind ${RBAC} clusterroles other` }, 'Forbidden');
  check('ClusterRole/target', { shop: `escalate ${RBAC} clusterroles,rolebindings` }, 'Forbidden');
  check('ClusterRole/absent', { shop: `bind ${RBAC} clusterroles` });
  const global = binding('new', 'ClusterRole/target', 'user eve');
  assert.equal(refusal({ object: global }, { shop: `bind ${RBAC} clusterroles` })?.reason, 'Forbidden');
  assert.equal(refusal({ object: global }, { cluster: `bind ${RBAC} clusterroles` }), undefined);
});

test('a binding to a nonexistent role is rejected as not found', () => {
  const message = (resource: string) => `${resource}.${RBAC} "absent" not found`;
  const check = (to: string, expected: unknown) =>
    assert.deepEqual(refusal({ object: binding('shop/new', to) }), expected);
  check('ClusterRole/absent', { reason: 'NotFound', message: message('clusterroles') });
  check('Role/absent', { reason: 'NotFound', message: message('roles') });
  for (const kind of ['Pod', 'constructor'])
    check(`${kind}/absent`, { reason: 'InternalError', message: `unsupported role reference kind: "${kind}"` });
});

test('the garbage collector may change the fields it manages on any role or binding', () => {
  for (const old of [role('shop/new', '* * *'), binding('shop/new', 'Role/target')]) {
    const collected = { ...old, metadata: { ...old.metadata, finalizers: ['x'], ownerReferences: [] } };
    assert.equal(refusal({ object: collected, old }), undefined);
    const labelled = { ...collected, metadata: { ...collected.metadata, labels: { a: 'b' } } };
    assert.equal(refusal({ object: labelled, old })?.reason, 'Forbidden');
  }
});

test('errors resolving the writer’s rules are in the message', () => {
  const store = storeOf(binding('a', 'ClusterRole/absent', 'user alice'));
  const source = new StoreRbacSource(store);
  const authorizer = new RbacAuthorizer(source);
  const check = new EscalationCheck({ authorizer, rules: authorizer, source });
  const write = {
    user: ALICE,
    resource: 'roles',
    namespace: 'shop',
    name: '',
    object: role('shop/new', 'get /x'),
  } as const;
  assert.match(
    check.refusalOf(write)!.message,
    /\{NonResourceURLs:\["\/x"\], Verbs:\["get"\]\}; resolution errors: \[clusterrole\.rbac\.authorization\.k8s\.io "absent" not found\]$/,
  );
});
