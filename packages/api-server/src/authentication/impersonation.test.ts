import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import type { UserInfo } from '@podwright/kube-kinds';
import { RbacAuthorizer } from '../authorization/rbac-authorizer.ts';
import { StoreRbacSource } from '../authorization/store-rbac-source.ts';
import { binding, request, role, storeOf } from '../authorization/test-rbac.fixture.ts';
import { impersonatedUser } from './impersonation.ts';
import { isImpersonationHeader, requestedUser } from './impersonation-headers.ts';

const ALICE: UserInfo = { username: 'alice', groups: ['system:authenticated'] };
const APP: UserInfo = {
  username: 'system:serviceaccount:shop:app',
  groups: ['system:serviceaccounts'],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'], 'authentication.kubernetes.io/pod-name': ['web'] },
};

/** Makes the request `get core pods shop/web` with impersonation headers, as a user with the given rules. */
function impersonate(headers: readonly string[], rules: readonly string[], user: UserInfo = ALICE): UserInfo {
  const subject = user === ALICE ? 'user alice' : 'account shop/app';
  const store = storeOf(role('r', ...rules), binding('b', 'ClusterRole/r', subject));
  const authorizer = new RbacAuthorizer(new StoreRbacSource(store));
  const requested = requestedUser(headers.flatMap((header) => header.split(/: (.*)/, 2)));
  return impersonatedUser(authorizer, requested!, request('get core pods shop/web', user));
}

function refused(headers: readonly string[], rules: readonly string[], message: string, user = ALICE): void {
  assert.throws(
    () => impersonate(headers, rules, user),
    (error: unknown) =>
      error instanceof ApiError && error.status.code === 403 && assert.equal(error.message, message) === undefined,
  );
}

test('a user with the impersonate verb gets the requested name, UID, groups and extra fields', () => {
  const headers = [
    'Impersonate-User: bob',
    'Impersonate-Uid: 42',
    'Impersonate-Group: a, b',
    'impersonate-group: c',
    'Impersonate-Extra-Acme.com%2fProject: x',
    'Impersonate-Extra-acme.com%2Fproject: y',
  ];
  const rules = ['impersonate core users,groups', 'impersonate authentication.k8s.io uids,userextras/acme.com/project'];
  assert.deepEqual(impersonate(headers, rules), {
    username: 'bob',
    uid: '42',
    groups: ['a, b', 'c', 'system:authenticated'],
    extra: { 'acme.com/project': ['x', 'y'] },
  });
});

test('a request without impersonation headers is unchanged', () => {
  assert.equal(requestedUser(['Host', 'x', 'Impersonate-User', '']), undefined);
  assert.deepEqual(
    ['impersonate-user', 'impersonate-uid', 'impersonate-group', 'impersonate-extra-x', 'host'].map(
      isImpersonationHeader,
    ),
    [true, true, true, true, false],
  );
});

test('impersonation headers without a user name are rejected', () => {
  const check = (headers: string[], shown: string) =>
    assert.throws(() => requestedUser(headers), { message: `requested ${shown} without impersonating a user name` });
  check(
    ['Impersonate-Group', 'a', 'impersonate-uid', '4'],
    '&user.DefaultInfo{Name:"", UID:"4", Groups:[]string{"a"}, Extra:map[string][]string(nil)}',
  );
  check(
    ['Impersonate-Extra-b', '1', 'Impersonate-Extra-A', '2'],
    '&user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"2"}, "b":[]string{"1"}}}',
  );
});

test('the first user name and UID win', () => {
  const { username, uid } = requestedUser(['Impersonate-User', 'a', 'impersonate-user', 'system:admin'])!;
  assert.deepEqual([username, uid], ['a', '']);
});

test('each impersonated attribute must be allowed', () => {
  const user = ['Impersonate-User: bob'];
  const cannot = (verb: string, what: string, group = '') =>
    `User "alice" cannot ${verb} resource "${what}" in API group "${group}" at the cluster scope`;
  const on =
    'pods "web" is forbidden: User "alice" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "shop"';
  refused(user, ['get core pods'], on);
  refused([...user, 'Impersonate-Group: dev'], ['impersonate core users'], on);
  refused([...user, 'Impersonate-Uid: 4'], ['impersonate core users,uids'], on);
  refused(
    [...user, 'Impersonate-Extra-X: 4'],
    ['impersonate core users', 'impersonate authentication.k8s.io userextras/y'],
    on,
  );
  assert.equal(impersonate(user, ['impersonate core users bob']).username, 'bob');
  refused(user, ['impersonate core users eve'], on);
  const constrained = ['impersonate-on:user-info:get core pods'];
  refused(
    user,
    constrained,
    `users.authentication.k8s.io "bob" is forbidden: ${cannot('impersonate:user-info', 'users', 'authentication.k8s.io')}`,
  );
});

test('service accounts get their own groups unless others are requested', () => {
  const headers = ['Impersonate-User: system:serviceaccount:shop:app'];
  const rules = ['impersonate core serviceaccounts,groups'];
  assert.deepEqual(impersonate(headers, rules).groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:shop',
    'system:authenticated',
  ]);
  assert.deepEqual(impersonate([...headers, 'Impersonate-Group: x'], rules).groups, ['x', 'system:authenticated']);
  const invalid = ['Impersonate-User: system:serviceaccount:shop:app:x'];
  assert.equal(impersonate(invalid, ['impersonate core users']).username, 'system:serviceaccount:shop:app:x');
});

test('an impersonated anonymous user is in system:unauthenticated only', () => {
  const rules = ['impersonate core users,groups'];
  const groups = (...headers: string[]) => impersonate(headers, rules).groups;
  assert.deepEqual(groups('Impersonate-User: system:anonymous'), ['system:unauthenticated']);
  const unauthenticated = 'Impersonate-Group: system:unauthenticated';
  assert.deepEqual(groups('Impersonate-User: bob', unauthenticated), ['system:unauthenticated']);
});

const CONSTRAINED = [
  'impersonate-on:user-info:get core pods',
  'impersonate:user-info authentication.k8s.io users,groups,userextras/acme.com/x',
];

test('a user with constrained impersonation may impersonate only for the allowed requests', () => {
  assert.equal(impersonate(['Impersonate-User: bob', 'Impersonate-Group: dev'], CONSTRAINED).username, 'bob');
  const other = ['impersonate-on:user-info:list core pods', ...CONSTRAINED.slice(1)];
  refused(
    ['Impersonate-User: bob'],
    other,
    'pods "web" is forbidden: User "alice" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "shop"',
  );
});

test('constrained impersonation cannot grant system:masters or empty values', () => {
  const check = (header: string, message: string) => refused(['Impersonate-User: bob', header], CONSTRAINED, message);
  const cannot = (what: string) =>
    `User "alice" cannot impersonate:user-info resource "${what}" in API group "authentication.k8s.io" at the cluster scope`;
  check(
    'Impersonate-Group: system:masters',
    `groups.authentication.k8s.io "system:masters" is forbidden: ${cannot('groups')}: impersonating the system:masters group is not allowed`,
  );
  check(
    'Impersonate-Group: ',
    `groups.authentication.k8s.io is forbidden: ${cannot('groups')}: impersonating the empty string group is not allowed`,
  );
  check(
    'Impersonate-Extra-acme.com%2Fx: ',
    `userextras.authentication.k8s.io is forbidden: ${cannot('userextras')}: impersonating the empty string value in extra is not allowed`,
  );
  check(
    'Impersonate-Extra-x: y',
    `userextras.authentication.k8s.io is forbidden: ${cannot('userextras')}: impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")`,
  );
});

test('a service account with associated-node mode may impersonate only its own node', () => {
  const rules = [
    'impersonate-on:associated-node:get core pods',
    'impersonate:associated-node authentication.k8s.io nodes',
  ];
  const node = (name: string) => [`Impersonate-User: system:node:${name}`];
  assert.deepEqual(impersonate(node('n1'), rules, APP), {
    username: 'system:node:n1',
    groups: ['system:nodes', 'system:authenticated'],
  });
  const on = `pods "web" is forbidden: User "${APP.username}" cannot impersonate-on:arbitrary-node:get resource "pods" in API group "" in the namespace "shop"`;
  refused(node('n2'), rules, on, APP);
  const named = [rules[0]!, 'impersonate:associated-node authentication.k8s.io nodes n1'];
  refused(
    node('n1'),
    named,
    `nodes.authentication.k8s.io "*" is forbidden: User "${APP.username}" cannot impersonate:associated-node resource "nodes" in API group "authentication.k8s.io" at the cluster scope`,
    APP,
  );
});

test('the node and service account modes fix the groups', () => {
  const rules = ['arbitrary-node', 'serviceaccount'].flatMap((mode) => [
    `impersonate-on:${mode}:get core pods`,
    `impersonate:${mode} authentication.k8s.io nodes,serviceaccounts`,
  ]);
  assert.deepEqual(impersonate(['Impersonate-User: system:node:n7'], rules).groups, [
    'system:nodes',
    'system:authenticated',
  ]);
  const account = 'Impersonate-User: system:serviceaccount:shop:app';
  assert.equal(impersonate([account], rules).groups.length, 3);
  refused(
    [account, 'Impersonate-Group: x'],
    rules,
    'serviceaccounts "app" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "shop"',
  );
});
