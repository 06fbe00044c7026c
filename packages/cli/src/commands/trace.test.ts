import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TraceSpan } from '@podwright/kubelet';
import { waterfall } from './trace.ts';

/** Returns the lines of the waterfall chart without their bars. */
const linesOf = (spans: TraceSpan[]) =>
  waterfall(spans, 80)
    .split('\n')
    .map((line) => line.replace(/ +[█▒]+$/, ''));

test('runtime spans are shown under the step that called the runtime', () => {
  const spans = [
    { name: 'pod seen', startMs: 1000, endMs: 1000 },
    { name: 'create web', startMs: 1040, endMs: 1050, id: 'c', parentId: 'sync' },
    { name: 'run sandbox', startMs: 1010, endMs: 1040, id: 's', parentId: 'sync' },
    { name: 'RunPodSandbox', startMs: 1011, endMs: 1039, id: 'r', parentId: 's' },
    { name: 'set up network', startMs: 1015, endMs: 1030, id: 'n', parentId: 'r' },
    { name: 'make namespaces', startMs: 1012, endMs: 1014, id: 'm', parentId: 'r' },
    { name: 'CreateContainer', startMs: 1041, endMs: 1049, id: 'k', parentId: 'c' },
  ];
  assert.deepEqual(linesOf(spans), [
    'pod seen                +0 ms     0 ms',
    'run sandbox            +10 ms    30 ms',
    '  RunPodSandbox        +11 ms    28 ms',
    '    make namespaces    +12 ms     2 ms',
    '    set up network     +15 ms    15 ms',
    'create web             +40 ms    10 ms',
    '  CreateContainer      +41 ms     8 ms',
  ]);
});

test('steps without runtime spans form a list, and spans that are their own parent are skipped', () => {
  const step = { name: 'run sandbox', startMs: 0, endMs: 1 };
  assert.deepEqual(linesOf([step]), ['run sandbox     +0 ms     1 ms']);
  assert.deepEqual(linesOf([step, { ...step, name: 'odd', id: 'x', parentId: 'x' }]).length, 1);
});

test('the detail of a step, such as a failure, is shown under it', () => {
  const span = { name: 'run sandbox', startMs: 0, endMs: 1, id: 's' };
  const detail = 'failed: plugin bridge: no address';
  assert.deepEqual(linesOf([span, { ...span, name: 'RunPodSandbox', id: 'r', parentId: 's', detail }]), [
    'run sandbox         +0 ms     1 ms',
    '  RunPodSandbox     +0 ms     1 ms',
    '    failed: plugin bridge: no address',
  ]);
});

test('a step in progress is shown with its duration so far', () => {
  const span: TraceSpan = { name: 'run sandbox', startMs: 0, endMs: 72_000, open: true };
  assert.deepEqual(linesOf([span]), ['run sandbox     +0 ms     72 s', '  in progress']);
  assert.match(waterfall([span], 80), /▒{40}/);
});

test('each start of a pod has its own time axis', () => {
  const hour = 3_600_000;
  const step = (name: string, startMs: number, endMs: number) => ({ name, startMs, endMs });
  const spans = [step('run sandbox', 0, 30), step('start web', 30, 60), step('restart web', hour, hour + 40)];
  const [first = '', second = ''] = waterfall(spans, 80).split('\n\n');
  assert.match(first, /^run sandbox .* █{20,}\nstart web .* █{20,}$/);
  assert.match(second, /^1970-01-01T01:00:00\.000Z, 1h0m later:\nrestart web +\+0 ms +40 ms +█{40,}$/);
});
