import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planAggregation } from './aggregation.ts';
import { bootstrapPolicy } from './bootstrap/bootstrap-policy.ts';
import { labelsMatch } from './label-selector.ts';
import type { LabelSelector, Role } from './rbac-objects.ts';
import { role, rules } from './test-rbac.fixture.ts';

const labelled = (one: Role, ...labels: string[]): Role => ({
  ...one,
  metadata: { ...one.metadata, labels: Object.fromEntries(labels.map((label) => [label, 'true'])) },
});

const collecting = (one: Role, ...labels: string[]): Role => ({
  ...one,
  aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: 'true' } })) },
});

test('a role gets the rules of the roles it selects, deduplicated and in name order', () => {
  const roles = [
    labelled(role('c', 'get core pods', 'get /c'), 'x'),
    labelled(role('b', 'get core pods', 'get /b'), 'x', 'y'),
    labelled(role('d', 'get /d'), 'z'),
    collecting(role('a', 'get /old'), 'x', 'y'),
  ];
  const collected = rules('get core pods', 'get /b', 'get /c');
  assert.deepEqual(planAggregation(roles), [{ name: 'a', rules: collected }]);
  assert.deepEqual(planAggregation([...roles.slice(0, 3), { ...roles[3]!, rules: collected }]), []);
});

test('roles that select aggregated roles get their rules in the same plan', () => {
  const roles = [
    collecting(role('a'), 'b'),
    labelled(collecting(role('b'), 'c'), 'b'),
    labelled(collecting(role('c'), 'd'), 'c'),
    labelled(role('d', 'get /d'), 'd'),
  ];
  assert.deepEqual(
    planAggregation(roles),
    ['a', 'b', 'c'].map((name) => ({ name, rules: rules('get /d') })),
  );
});

test('roles that select each other and themselves converge', () => {
  const roles = [
    labelled(collecting(role('a', 'get /a'), 'x'), 'x'),
    labelled(collecting(role('b', 'get /b'), 'x'), 'x'),
    labelled(role('c', 'get /c'), 'x'),
  ];
  const collected = rules('get /b', 'get /c');
  const planned = planAggregation(roles);
  assert.deepEqual(planned, [
    { name: 'a', rules: collected },
    { name: 'b', rules: collected },
  ]);
  const next = roles.map((one) => ({ ...one, ...planned.find(({ name }) => name === one.metadata.name) }));
  assert.deepEqual(planAggregation(next as Role[]), []);
});

test('roles with an invalid selector, or without selectors, are unchanged', () => {
  const invalid = { matchExpressions: [{ key: 'x', operator: 'Like', values: ['y'] }] };
  const aggregated = { ...role('a', 'get /a'), aggregationRule: { clusterRoleSelectors: [{}, invalid] } };
  const empty = { ...role('b', 'get /b'), aggregationRule: { clusterRoleSelectors: [] } };
  assert.deepEqual(planAggregation([aggregated, empty, role('c', 'get /c')]), []);
});

test('hundreds of roles with hundreds of rules are aggregated within a second', () => {
  const many = (prefix: string) => Array.from({ length: 300 }, (_, index) => `get /${prefix}/${index}`);
  const roles = Array.from({ length: 300 }, (_, index) => labelled(role(`r${index}`, ...many(`${index}`)), 'x'));
  const before = performance.now();
  const [planned] = planAggregation([...roles, collecting(role('all'), 'x')]);
  assert.equal(planned!.rules.length, 90_000);
  assert.ok(performance.now() - before < 10_000);
});

test('the bootstrap policy aggregates view into edit, and edit into admin', () => {
  const planned = new Map(planAggregation(bootstrapPolicy().clusterRoles).map(({ name, rules: list }) => [name, list]));
  const sizes = ['view', 'edit', 'admin'].map((name) => planned.get(name)!.length);
  assert.deepEqual(sizes, [12, 27, 29]);
});

test('labels match a selector', () => {
  const labels = { a: '1', b: '2' };
  const check = (selector: LabelSelector, expected: boolean | undefined) =>
    assert.equal(labelsMatch(selector)?.(labels), expected, JSON.stringify(selector));
  const expression = (key: string, operator: string, ...values: string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });
  check({}, true);
  check({ matchLabels: { a: '1', b: '2' } }, true);
  check({ matchLabels: { a: '1', b: '3' } }, false);
  check({ matchLabels: { c: '1' } }, false);
  check(expression('a', 'In', '0', '1'), true);
  check(expression('a', 'In', '0'), false);
  check(expression('c', 'In', '0'), false);
  check(expression('a', 'NotIn', '0'), true);
  check(expression('a', 'NotIn', '1'), false);
  check(expression('c', 'NotIn', '1'), true);
  check(expression('a', 'Exists'), true);
  check(expression('c', 'Exists'), false);
  check(expression('toString', 'Exists'), false);
  check(expression('a', 'DoesNotExist'), false);
  check(expression('c', 'DoesNotExist'), true);
  check(expression('a', 'In'), undefined);
  check(expression('a', 'Exists', '1'), undefined);
  check(expression('a', 'Gt', '1'), undefined);
  check({ matchLabels: { a: '1' }, ...expression('b', 'NotIn', '2') }, false);
});
