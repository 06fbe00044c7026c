import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DiskLayout, Signal } from '@podwright/kubelet-configuration';
import { type GivenPod, type GivenUse, podOf, statsOf } from './pods.fixture.ts';
import { isExplained, ownUseOf, rankPods } from './rank-pods.ts';

type Given = Record<string, [GivenPod, GivenUse | undefined]>;

function check(
  signal: Signal,
  given: Given,
  expected: string,
  { layout = 'shared' as DiskLayout, missing = 0n, used = 0n, latest = {} as Record<string, GivenUse> } = {},
): void {
  const candidates = Object.entries(given).map(([name, [pod, use]]) => {
    const stats = use && statsOf(name, use);
    return { pod: podOf(name, pod), stats, ...(latest[name] && { latest: statsOf(name, latest[name]) }) };
  });
  const order = (from: typeof candidates) =>
    rankPods(from, { signal, layout, missing, used }).map(({ pod }) => pod.metadata.name);
  assert.equal(order(candidates).join(' '), expected);
  assert.equal(order(candidates.toReversed()).join(' '), expected, 'independent of the order of the input');
}

test('memory: pods over their requests come first, then by priority, then by excess usage', () => {
  check(
    'memory.available',
    {
      'within-low': [{ priority: -5, requests: { memory: '900Mi' } }, { memory: 800 }],
      'within-high': [{ priority: 5, requests: { memory: '900Mi' } }, { memory: 850 }],
      'over-high': [{ priority: 5 }, { memory: 500 }],
      'over-low-little': [{ requests: { memory: '100Mi' } }, { memory: 150 }],
      'over-low-much': [{}, { memory: 60 }],
      unknown: [{ priority: 9, requests: { memory: '1Gi' } }, undefined],
    },
    'over-low-much over-low-little over-high unknown within-low within-high',
  );
});

test('memory: overhead is added only to nonzero requests, and pod-level requests count', () => {
  const overhead = { memory: '100Mi' };
  check(
    'allocatableMemory.available',
    {
      'asks-nothing': [{ spec: { overhead } }, { memory: 50 }],
      'asks-with-overhead': [{ requests: { memory: '10Mi' }, spec: { overhead } }, { memory: 60 }],
      whole: [{ requests: { memory: '1Mi' }, spec: { resources: { requests: { memory: '200Mi' } } } }, { memory: 90 }],
    },
    'asks-nothing asks-with-overhead whole',
  );
});

test('processes: pods are ranked by priority, then by number of processes', () => {
  check(
    'pid.available',
    { few: [{}, { processes: 3 }], many: [{}, { processes: 30 }], vital: [{ priority: 1 }, { processes: 300 }] },
    'many few vital',
  );
});

test("disk: only a pod's files on that disk count", () => {
  const given: Given = {
    writes: [{}, { root: 30 }],
    logs: [{}, { logs: 20 }],
    stores: [{}, { volume: 10 }],
  };
  check('nodefs.available', given, 'writes logs stores');
  check('imagefs.available', given, 'writes logs stores');
  check('nodefs.available', given, 'logs stores writes', { layout: 'images' });
  check('nodefs.available', given, 'writes logs stores', { layout: 'split' });
  const storing = {
    asks: [{ requests: { 'ephemeral-storage': '50Mi' } }, { root: 40 }],
    not: [{}, { root: 1 }],
  } as Given;
  check('containerfs.available', storing, 'not asks', { layout: 'images' });
});

test('disk: a pod that fills the disk through its claims comes first, but files of claims do not count as freed', () => {
  const pods: Given = { innocent: [{}, { root: 50 }], filler: [{}, { root: 1, claims: 900 }] };
  for (const layout of ['shared', 'split'] as const)
    check('nodefs.available', pods, 'filler innocent', { layout, missing: 500n << 20n });
  check('imagefs.available', pods, 'innocent filler', { layout: 'images', missing: 500n << 20n });
  const candidates = [{ pod: podOf('filler'), stats: statsOf('filler', { claims: 900 }) }];
  const resource = { signal: 'nodefs.available', layout: 'shared' } as const;
  assert.equal(isExplained(candidates, { ...resource, missing: 500n << 20n, used: 0n }), true);
  assert.equal(ownUseOf(candidates[0]!.stats, resource), 0n);
});

test('inodes: pods are ranked by number of files', () => {
  check('nodefs.inodesFree', { few: [{}, { inodes: 10, root: 999 }], many: [{}, { inodes: 1000 }] }, 'many few');
});

test('disk: among pods over their requests, those using at least the missing amount come first', () => {
  check(
    'nodefs.available',
    {
      little: [{}, { root: 1 }],
      much: [{ priority: 5 }, { root: 10 }],
      most: [{ priority: 9, requests: { 'ephemeral-storage': '1Gi' } }, { root: 90 }],
    },
    'much little most',
    { missing: 10n << 20n },
  );
});

test('disk: a pod with too many deleted files to count is assumed to use all unexplained space', () => {
  const pods = (hidden: GivenUse): Given => ({
    hider: [{}, hidden],
    small: [{}, { volume: 70 }],
    large: [{}, { volume: 90 }],
  });
  const hidden = { volume: 50, isPartial: true };
  const missing = 60n << 20n;
  check('nodefs.available', pods(hidden), 'hider large small', { missing, used: 600n << 20n });
  check('nodefs.available', pods({ volume: 50 }), 'large small hider', { missing, used: 600n << 20n });
  check('nodefs.available', pods(hidden), 'large small hider', { missing, used: 210n << 20n }); // all is explained
  check('nodefs.inodesFree', { hider: [{}, { isPartial: true }], other: [{}, { inodes: 9 }] }, 'hider other', {
    used: 99n,
  });
  check('memory.available', { hider: [{}, { isPartial: true }], other: [{}, { memory: 1 }] }, 'other hider', {
    used: 99n,
  });
});

test('disk: earlier usage of other pods does not account for current usage', () => {
  const hider = { volume: 50, isPartial: true };
  const given: Given = { hider: [{}, hider], freed: [{}, { volume: 500 }], idle: [{}, { volume: 40 }] };
  const latest = { hider, freed: { volume: 1 }, idle: { volume: 40 } };
  const check600 = (expected: string, more = {}) =>
    check('nodefs.available', given, expected, { missing: 60n << 20n, used: 600n << 20n, ...more });
  check600('freed hider idle');
  check600('hider freed idle', { latest });
});

test('an unmeasured pod ranks after pods that explain the shortage, but before all others', () => {
  const given = (use: GivenUse): Given => ({
    unknown: [{}, undefined],
    'unknown-vital': [{ priority: 9 }, undefined],
    hog: [{ priority: 5 }, use],
    small: [{}, { memory: 1, root: 1, processes: 1, inodes: 1 }],
  });
  const hog = given({ memory: 90, root: 90, processes: 90, inodes: 90 });
  const [missing, few] = [60n << 20n, 60n];
  check('nodefs.available', hog, 'hog unknown unknown-vital small', { missing });
  check('nodefs.inodesFree', hog, 'hog unknown unknown-vital small', { missing: few });
  check('memory.available', hog, 'small hog unknown unknown-vital', { missing });
  check('pid.available', hog, 'small hog unknown unknown-vital', { missing: few });
  const none = given({ memory: 9, root: 9, processes: 9, inodes: 9 });
  for (const signal of ['nodefs.available', 'memory.available'] as const)
    check(signal, none, 'unknown unknown-vital small hog', { missing });
});

test('disk: neither usage within requests nor unmeasured pods explain a shortage', () => {
  const given: Given = {
    within: [{ requests: { 'ephemeral-storage': '100Mi' } }, { root: 90 }],
    unknown: [{}, undefined],
  };
  check('nodefs.available', given, 'unknown within', { missing: 60n << 20n });
  const shortage = { signal: 'nodefs.available', layout: 'shared', missing: 60n << 20n, used: 0n } as const;
  const explained = (use: GivenUse) =>
    isExplained([{ pod: podOf('a'), stats: statsOf('a', use) }, { pod: podOf('unknown') }], shortage);
  assert.deepEqual([explained({ root: 50 }), explained({ root: 60 })], [false, true]);
});
