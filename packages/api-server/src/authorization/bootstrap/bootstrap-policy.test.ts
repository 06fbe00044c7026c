import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RbacAuthorizer } from '../rbac-authorizer.ts';
import { StoreRbacSource } from '../store-rbac-source.ts';
import { request, storeOf } from '../test-rbac.fixture.ts';
import { AUTO_UPDATE, bootstrapPolicy } from './bootstrap-policy.ts';

const policy = bootstrapPolicy();
const objects = Object.values(policy).flat();

test('the policy has the roles and bindings of Kubernetes', () => {
  const counts = Object.entries(policy).map(([name, list]) => [name, list.length]);
  assert.deepEqual(Object.fromEntries(counts), {
    clusterRoles: 31 + 38,
    clusterRoleBindings: 12 + 38,
    roles: 7,
    roleBindings: 7,
  });
});

test('each object has the policy’s labels and annotations, and each binding refers to one of its roles', () => {
  const place = (namespace = '', kind = '', name = '') => `${kind} ${namespace}/${name}`;
  const roles = new Set(
    [...policy.clusterRoles, ...policy.roles].map(({ kind, metadata }) =>
      place(metadata.namespace, kind, metadata.name),
    ),
  );
  for (const { metadata } of objects) {
    assert.equal(metadata.annotations?.[AUTO_UPDATE], 'true');
    assert.equal(metadata.labels?.['kubernetes.io/bootstrapping'], 'rbac-defaults');
  }
  for (const { metadata, roleRef } of [...policy.clusterRoleBindings, ...policy.roleBindings])
    assert.ok(roles.has(place(metadata.namespace, roleRef.kind, roleRef.name)), metadata.name);
});

test('the policy grants users and components their permissions', () => {
  const authorizer = new RbacAuthorizer(new StoreRbacSource(storeOf(...objects)));
  const check = (username: string, groups: string[], allowed: string[], others: string[]) => {
    const verdicts = [...allowed, ...others].map((line) => [
      line,
      authorizer.authorize(request(line, { username, groups })).decision,
    ]);
    const expected = [...allowed.map((line) => [line, 'allow']), ...others.map((line) => [line, 'no opinion'])];
    assert.deepEqual(verdicts, expected, username);
  };
  const authenticated = 'system:authenticated';
  check('root', ['system:masters'], ['delete core nodes', 'put /x'], []);
  check(
    'alice',
    [authenticated],
    ['get /version', 'get /api/v1', 'create authorization.k8s.io selfsubjectaccessreviews'],
    ['get core pods', 'get /metrics'],
  );
  check(
    'system:anonymous',
    ['system:unauthenticated'],
    ['get /healthz', 'get /version'],
    ['get /api', 'get /healthz/etcd'],
  );
  check('system:node:a', ['system:nodes', authenticated], [], ['get core pods', 'get core secrets kube-system/x']);
  check(
    'system:kube-scheduler',
    [],
    ['create core pods/binding shop/x', 'update coordination.k8s.io leases kube-system/kube-scheduler'],
    ['create core pods shop/x'],
  );
  const account = (name: string) => `system:serviceaccount:kube-system:${name}`;
  check(
    account('job-controller'),
    [],
    ['create core pods shop/x', 'update batch jobs/status shop/x'],
    ['delete core nodes'],
  );
  check(account('generic-garbage-collector'), [], ['delete example.com things a/b'], ['create core pods']);
  check(account('token-cleaner'), [], ['delete core secrets kube-system/x'], ['delete core secrets shop/x']);
});
