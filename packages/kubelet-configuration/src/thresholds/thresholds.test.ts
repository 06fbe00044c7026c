import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DiskLayout, withContainerFs } from './disk-layout.ts';
import {
  amountOf,
  DEFAULT_HARD_THRESHOLDS,
  type Threshold,
  type ThresholdSettings,
  thresholdProblems,
  thresholdsOf,
} from './thresholds.ts';

const NONE: ThresholdSettings = { hard: {}, soft: {}, softGracePeriod: {}, minimumReclaim: {} };

function checkProblem(settings: Partial<ThresholdSettings>, expected: RegExp | undefined): void {
  const problems = thresholdProblems({ ...NONE, ...settings }).map(({ setting, message }) => `${setting}: ${message}`);
  if (expected === undefined) assert.deepEqual(problems, []);
  else assert.match(problems.join('\n'), expected);
}

test('thresholds are positive amounts or percentages', () => {
  for (const good of ['1', '100Mi', '0%', '100%', '12.5%', '1.5Gi'])
    checkProblem({ hard: { 'memory.available': good } }, undefined);
  for (const wrong of ['0', '-1Mi', '-1%', '100.1%', 'x', '%', 'x%', '', '1e999999%', 'NaN%'])
    checkProblem({ hard: { 'memory.available': wrong } }, /^hard: memory\.available: must be .*, got "/);
  checkProblem(
    { hard: { 'memory.free': '1' } },
    /^hard: "memory\.free" is not an eviction signal, only memory\.available, /,
  );
  checkProblem({ hard: { ['x'.repeat(9999)]: '1' } }, /^hard: "x{60}" is no/);
});

test('a soft threshold requires a grace period, and a minimum reclaim must be valid', () => {
  const soft = { 'nodefs.available': '10%' };
  checkProblem({ soft }, /^soft: nodefs\.available: needs its grace period in evictionSoftGracePeriod$/);
  checkProblem({ soft, softGracePeriod: { 'nodefs.available': '1m30s' } }, undefined);
  checkProblem({ softGracePeriod: { 'nodefs.available': '-1s' } }, /^softGracePeriod: .* got "-1s"$/);
  checkProblem({ minimumReclaim: { 'nodefs.available': '0' } }, undefined);
  for (const wrong of ['0%', '-1', 'x'])
    checkProblem({ minimumReclaim: { 'nodefs.available': wrong } }, /^minimumReclaim: /);
});

const shown = (thresholds: readonly Threshold[]) =>
  thresholds.map(({ signal, gracePeriodMs, minReclaim }) => `${signal} ${gracePeriodMs}${minReclaim ? ' more' : ''}`);

test('0% and 100% disable a threshold, and a hard memory threshold also applies to allocatable memory', () => {
  const settings: ThresholdSettings = {
    hard: { 'memory.available': '100Mi', 'nodefs.available': '0%', 'imagefs.available': '100%' },
    soft: { 'memory.available': '1Gi' },
    softGracePeriod: { 'memory.available': '2s', 'pid.available': '9s' },
    minimumReclaim: { 'memory.available': '5%' },
  };
  const both = ['memory.available 0 more', 'memory.available 2000 more'];
  assert.deepEqual(shown(thresholdsOf(settings, { areHeldToAllocatable: false })), both);
  const held = thresholdsOf(settings, { areHeldToAllocatable: true });
  assert.deepEqual(shown(held), [...both, 'allocatableMemory.available 0 more']);
});

test('containerfs gets the thresholds of its file system', () => {
  const hard = { ...DEFAULT_HARD_THRESHOLDS, 'containerfs.available': '99%' };
  const thresholds = thresholdsOf({ ...NONE, hard }, { areHeldToAllocatable: false });
  const sharesOf = (layout: DiskLayout) =>
    withContainerFs(thresholds, layout).flatMap(({ signal, value }) =>
      signal.startsWith('containerfs.') ? [`${signal} ${amountOf(value, 100n)}`] : [],
    );
  assert.deepEqual(sharesOf('shared'), ['containerfs.available 10', 'containerfs.inodesFree 5']);
  assert.deepEqual(sharesOf('split'), ['containerfs.available 10', 'containerfs.inodesFree 5']);
  assert.deepEqual(sharesOf('images'), ['containerfs.available 15', 'containerfs.inodesFree 5']);
});
