import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MergeOptions, mergeHints, type TopologyPolicy } from './merge-hints.ts';
import { maskOf, masksOf, nodesOf } from './node-mask.ts';
import type { ResourceHints, TopologyHint } from './topology-hint.ts';

const NEAR = new Map([
  [0, [10, 20, 11, 20]],
  [1, [20, 10, 20, 20]],
  [2, [11, 20, 10, 20]],
  [3, [20, 20, 20, 10]],
]);

const options = (policy: TopologyPolicy, nodes = 2, preferClosest = false): MergeOptions => ({
  policy,
  preferClosest,
  numa: { nodes: Array.from({ length: nodes }, (_, node) => node), distances: NEAR },
});

const hint = (nodes: number[] | undefined, preferred = true): TopologyHint => ({
  nodes: nodes && maskOf(nodes),
  preferred,
});

function check(
  providers: ResourceHints[],
  merge: MergeOptions,
  [nodes, preferred, isAdmitted]: [number[] | undefined, boolean, boolean],
): void {
  const found = mergeHints(providers, merge);
  const shown = found.hint.nodes === undefined ? undefined : nodesOf(found.hint.nodes);
  assert.deepEqual([shown, found.hint.preferred, found.isAdmitted], [nodes, preferred, isAdmitted]);
}

test('subsets of nodes are sorted by size', () => {
  assert.deepEqual(masksOf([0, 2, 3]).map(nodesOf), [[0], [2], [3], [0, 2], [0, 3], [2, 3], [0, 2, 3]]);
});

test('a provider without a preference does not restrict the others', () => {
  for (const policy of ['best-effort', 'restricted'] as const) {
    check([{}], options(policy), [[0, 1], true, true]);
    check([{ a: undefined }, { b: [hint([1])] }], options(policy), [[1], true, true]);
  }
  check([{}], options('single-numa-node'), [undefined, true, true]);
});

test('the hint preferred by all providers with the fewest nodes is chosen', () => {
  const cpu = { cpu: [hint([0]), hint([1]), hint([0, 1], false)] };
  check([cpu, { gpu: [hint([1]), hint([0, 1], false)] }], options('restricted'), [[1], true, true]);
  check([cpu], options('restricted'), [[0], true, true]);
});

test('resources that cannot be aligned are not preferred, so restricted policies reject them', () => {
  const apart = [{ cpu: [hint([0]), hint([0, 1], false)] }, { gpu: [hint([1]), hint([0, 1], false)] }];
  check(apart, options('best-effort'), [[0], false, true]);
  check(apart, options('restricted'), [[0], false, false]);
  check(apart, options('single-numa-node'), [undefined, false, false]);
  check([{ gpu: [] }], options('best-effort'), [[0, 1], false, true]);
  check([{ gpu: [] }], options('restricted'), [[0, 1], false, false]);
});

test('several nodes are sufficient for restricted, but not for single-numa-node', () => {
  const wide = [{ cpu: [hint([0, 1])] }];
  check(wide, options('restricted'), [[0, 1], true, true]);
  check(wide, options('single-numa-node'), [undefined, false, false]);
});

test('among sets of the same size the closest nodes may be preferred', () => {
  const pairs = [{ cpu: [hint([0, 1]), hint([0, 2]), hint([2, 3])] }];
  check(pairs, options('best-effort', 4), [[0, 1], true, true]);
  check(pairs, options('best-effort', 4, true), [[0, 2], true, true]);
});

test('distances are looked up by position, as node IDs may have gaps', () => {
  const distances = new Map([
    [0, [10, 11, 30]],
    [2, [11, 10, 20]],
    [5, [30, 20, 10]],
  ]);
  const numa = { nodes: [0, 2, 5], distances };
  const pairs = [{ cpu: [hint([2, 5]), hint([0, 5]), hint([0, 2])] }];
  check(pairs, { policy: 'best-effort', preferClosest: true, numa }, [[0, 2], true, true]);
});

test('hints for many nodes and resources are merged quickly', () => {
  const all = masksOf([0, 1, 2, 3, 4, 5, 6, 7]).map((nodes) => ({ nodes, preferred: false }));
  const many = Array.from({ length: 8 }, (_, index) => ({ [`r${index}`]: all }));
  const startedAt = performance.now();
  check(many, options('restricted', 8), [[0], false, false]);
  assert.ok(performance.now() - startedAt < 20_000);
});
