import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore } from '../../../../api-machinery/src/store/memory-store.ts';
import type { Role, RoleBinding } from '../rbac-objects.ts';
import { binding, keyOf, role, rules } from '../test-rbac.fixture.ts';
import { AUTO_UPDATE, bootstrapPolicy } from './bootstrap-policy.ts';
import { ensurePolicy, type PolicyWriter } from './ensure-policy.ts';
import { reconcileBinding, reconcileRole } from './reconcile.ts';

const annotated = <T extends Role | RoleBinding>(object: T, autoUpdate: string, labels = {}): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [AUTO_UPDATE]: autoUpdate }, labels },
});

const EXPECTED = annotated(role('r', 'get,list core pods', 'get /x'), 'true', { a: '1', b: '1' });
const NONE = { operation: 'none' };

test('a role gets missing rules, labels and annotations, and retains its own', () => {
  assert.deepEqual(reconcileRole(EXPECTED, EXPECTED), NONE);
  const covering = { ...EXPECTED, rules: rules('get,list,watch core pods,nodes', 'get /*') };
  assert.deepEqual(reconcileRole(covering, EXPECTED), NONE);
  const existing = { ...role('r', 'list core pods', 'get core nodes'), extra: 1 };
  existing.metadata = { name: 'r', uid: 'u', labels: { a: '2', c: '3' }, annotations: { other: 'x' } };
  assert.deepEqual(reconcileRole(existing, EXPECTED), {
    operation: 'update',
    object: {
      ...existing,
      metadata: {
        name: 'r',
        uid: 'u',
        labels: { a: '2', b: '1', c: '3' },
        annotations: { [AUTO_UPDATE]: 'true', other: 'x' },
      },
      rules: [...existing.rules!, ...rules('get core pods', 'get /x')],
    },
  });
});

test('objects with autoupdate false are unchanged', () => {
  assert.deepEqual(reconcileRole(annotated(role('r'), 'false'), EXPECTED), NONE);
  const expected = binding('b', 'ClusterRole/r', 'user a');
  assert.deepEqual(reconcileBinding(annotated(binding('b', 'ClusterRole/other'), 'false'), expected), NONE);
});

test('selectors are added to aggregated roles, and removed from roles that should not be aggregated', () => {
  const selecting = (...labels: string[]): Role => ({
    ...EXPECTED,
    aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: 'true' } })) },
  });
  const check = (existing: Role, expected: Role, result: Role | undefined) =>
    assert.deepEqual(
      reconcileRole(existing, expected),
      result === undefined ? NONE : { operation: 'update', object: result },
    );
  check(selecting('x', 'y'), selecting('x'), undefined);
  check(selecting('x'), selecting('y'), selecting('x', 'y'));
  check(EXPECTED, selecting('y'), selecting('y'));
  check(selecting('x'), EXPECTED, EXPECTED);
});

test('a binding gets missing subjects, and is recreated if it refers to another role', () => {
  const expected = annotated(binding('b', 'ClusterRole/r', 'user a', 'account n/b'), 'true');
  assert.deepEqual(reconcileBinding(expected, expected), NONE);
  const existing = annotated(binding('b', 'ClusterRole/r', 'user x', 'user a'), 'true');
  assert.deepEqual(reconcileBinding(existing, expected), {
    operation: 'update',
    object: { ...existing, subjects: [...existing.subjects!, expected.subjects![1]] },
  });
  const { subjects: _, ...bare } = existing;
  assert.deepEqual(reconcileBinding(bare, expected), { operation: 'update', object: expected });
  const other = annotated(binding('b', 'ClusterRole/other', 'user a'), 'true');
  assert.deepEqual(reconcileBinding(other, expected), { operation: 'recreate', object: expected });
});

/** Returns a writer that stores RBAC objects and logs its operations. */
function writerOf(store: MemoryStore, log: string[]): PolicyWriter {
  const note = (verb: string, { kind, metadata }: Role | RoleBinding) => log.push(`${verb} ${kind} ${metadata.name}`);
  const revisionOf = (object: Role | RoleBinding) => store.get(keyOf(object))!.revision;
  return {
    find: (object) => store.get(keyOf(object))?.decode() as typeof object | undefined,
    create(object) {
      note('create', object);
      store.create(keyOf(object), object);
    },
    update(object) {
      note('update', object);
      store.update(keyOf(object), object, Number(object.metadata.resourceVersion));
    },
    delete(object) {
      note('delete', object);
      store.delete(keyOf(object), revisionOf(object));
    },
    ensureNamespace: (name) => log.push(`ensure ${name}`),
  };
}

test('the first start creates the policy and its namespaces, the second changes nothing, the third repairs it', () => {
  const store = new MemoryStore();
  const started = () => {
    const log: string[] = [];
    ensurePolicy(writerOf(store, log));
    return log;
  };
  const namespaces = ['ensure kube-public', 'ensure kube-system'];
  const first = started();
  assert.deepEqual(first.slice(0, 2), namespaces);
  assert.equal(first.length, 2 + Object.values(bootstrapPolicy()).flat().length);
  assert.deepEqual(started(), namespaces);
  const change = (object: Role | RoleBinding) =>
    store.update(keyOf(object), object, store.get(keyOf(object))!.revision);
  change(annotated(role('system:node'), 'true'));
  change(annotated(role('system:discovery'), 'false'));
  change(annotated(binding('system:kube-dns', 'ClusterRole/view'), 'true'));
  store.delete(keyOf(role('view')), store.get(keyOf(role('view')))!.revision);
  assert.deepEqual(started(), [
    ...namespaces,
    'create ClusterRole view',
    'update ClusterRole system:node',
    'delete ClusterRoleBinding system:kube-dns',
    'create ClusterRoleBinding system:kube-dns',
  ]);
  assert.deepEqual(started(), namespaces);
});
