import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, createErrors, decoded, updateErrors } from '../strategy-checks.fixture.ts';
import { CLUSTER_ROLE_BINDING, ROLE_BINDING } from './role-bindings.ts';
import { CLUSTER_ROLE, ROLE } from './roles.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';

test('invalid role rules have upstream’s errors', () => {
  const check = (rules: object[], expected: { role: string[]; cluster: string[] }) => {
    const metadata = { name: 'system:a', namespace: 'n' };
    assert.deepEqual(createErrors(ROLE, { apiVersion, kind: 'Role', metadata, rules }), expected.role);
    assert.deepEqual(
      createErrors(CLUSTER_ROLE, { apiVersion, kind: 'ClusterRole', metadata: { name: 'a' }, rules }),
      expected.cluster,
    );
  };
  const both = (...errors: string[]) => ({ role: errors, cluster: errors });
  check([{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }], both());
  check(
    [{}],
    both(
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ),
  );
  const at = 'rules[0].nonResourceURLs: Invalid value: ["/metrics"]';
  const namespaced = `${at}: namespaced rules cannot apply to non-resource URLs`;
  const mixed = `${at}: rules cannot apply to both regular resources and non-resource URLs`;
  check([{ verbs: ['get'], nonResourceURLs: ['/metrics'] }], { role: [namespaced], cluster: [] });
  check([{ verbs: ['get'], nonResourceURLs: ['/metrics'], resources: ['pods'] }], {
    role: [namespaced, mixed],
    cluster: [mixed],
  });
});

test('an aggregated role must have valid selectors, but may keep invalid ones', () => {
  const role = (...clusterRoleSelectors: object[]) => ({
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name: 'a' },
    aggregationRule: { clusterRoleSelectors },
  });
  assert.deepEqual(createErrors(CLUSTER_ROLE, role({ matchLabels: { a: 'b' } })), []);
  const field = 'aggregationRule.clusterRoleSelectors';
  assert.deepEqual(createErrors(CLUSTER_ROLE, role()), [
    `${field}: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`,
  ]);
  const wrong = role({ matchExpressions: [{ key: 'a', operator: 'In', values: ['_'] }] });
  const fieldsOf = (errors: string[]) => errors.map((error) => error.split(': ')[0]);
  assert.deepEqual(fieldsOf(createErrors(CLUSTER_ROLE, wrong)), [
    `${field}[0].matchExpressions[0].values[0]`,
    `${field}[0]`,
  ]);
  assert.deepEqual(fieldsOf(updateErrors(CLUSTER_ROLE, wrong, wrong)), [`${field}[0]`]);
});

test('role and binding names must be valid path segments, and a PUT can create them', () => {
  for (const { nameProblems, allowCreateOnUpdate } of [ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING]) {
    assert.deepEqual(nameProblems?.('system:A_b', false), []);
    assert.deepEqual(nameProblems?.('a/b%', false), ["may not contain '/'", "may not contain '%'"]);
    assert.deepEqual(nameProblems?.('..', false), ["may not be '..'"]);
    assert.equal(allowCreateOnUpdate, true);
  }
});

const BINDING = {
  apiVersion,
  kind: 'RoleBinding',
  metadata: { name: 'b', namespace: 'n' },
  roleRef: { kind: 'Role', name: 'r' },
};
const CLUSTER_BINDING = {
  ...BINDING,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'b' },
  roleRef: { kind: 'ClusterRole', name: 'r' },
};

test('missing API groups of users and roles are defaulted', () => {
  const subjects = [
    { kind: 'User', name: 'a' },
    { kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's' },
    { kind: 'User', name: 'b', apiGroup: 'x' },
  ];
  const binding = decoded(ROLE_BINDING, { ...BINDING, subjects });
  assert.deepEqual(binding.roleRef, { apiGroup: GROUP, kind: 'Role', name: 'r' });
  assert.deepEqual(
    (binding.subjects as { apiGroup?: string }[]).map(({ apiGroup }) => apiGroup),
    [GROUP, GROUP, undefined, 'x'],
  );
});

test('invalid bindings have upstream’s errors', () => {
  const check = (changes: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(ROLE_BINDING, changed(BINDING, changes as never)), errors);
  check({
    subjects: [
      { kind: 'User', name: 'a' },
      { kind: 'ServiceAccount', name: 's' },
    ],
  });
  check(
    { roleRef: { apiGroup: 'x', kind: 'Other', name: '' } },
    `roleRef.apiGroup: Unsupported value: "x": supported values: "${GROUP}"`,
    'roleRef.kind: Unsupported value: "Other": supported values: "Role", "ClusterRole"',
    'roleRef.name: Required value',
  );
  check(
    {
      subjects: [
        { kind: 'Robot', name: '' },
        { kind: 'User', name: 'a', apiGroup: 'x' },
        { kind: 'ServiceAccount', name: 's', apiGroup: GROUP },
      ],
    },
    'subjects[0].name: Required value',
    'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    `subjects[1].apiGroup: Unsupported value: "x": supported values: "${GROUP}"`,
    `subjects[2].apiGroup: Unsupported value: "${GROUP}": supported values: ""`,
  );
  const cluster = { ...CLUSTER_BINDING, roleRef: BINDING.roleRef, subjects: [{ kind: 'ServiceAccount', name: 's' }] };
  assert.deepEqual(createErrors(CLUSTER_ROLE_BINDING, cluster), [
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    'subjects[0].namespace: Required value',
  ]);
});

test('a binding’s role is immutable', () => {
  const other = changed(BINDING, { roleRef: { kind: 'ClusterRole' } });
  assert.deepEqual(updateErrors(ROLE_BINDING, { ...BINDING, subjects: [{ kind: 'User', name: 'a' }] }, BINDING), []);
  assert.deepEqual(updateErrors(ROLE_BINDING, other, BINDING), [
    `roleRef: Invalid value: {"APIGroup":"${GROUP}","Kind":"ClusterRole","Name":"r"}: cannot change roleRef`,
  ]);
  assert.equal(
    updateErrors(CLUSTER_ROLE_BINDING, changed(CLUSTER_BINDING, { roleRef: { name: 'q' } }), CLUSTER_BINDING).length,
    1,
  );
});
