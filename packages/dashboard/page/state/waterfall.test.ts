import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TraceSpan } from '../api/dashboard.ts';
import { chartsOf } from './waterfall.ts';

const span = (name: string, startMs: number, endMs: number, more: Partial<TraceSpan> = {}): TraceSpan => ({
  ...{ name, startMs, endMs, id: name },
  ...more,
});
const shown = (spans: TraceSpan[]) =>
  chartsOf(spans).map(({ bars }) => bars.map((bar) => `${bar.depth} ${bar.span.name}`));

test('runtime spans are shown under the step that called the runtime', () => {
  const spans = [
    span('create main', 40, 60, { parentId: 'sync' }),
    span('RunPodSandbox', 11, 29, { parentId: 'run sandbox' }),
    span('network', 15, 20, { parentId: 'RunPodSandbox' }),
    span('run sandbox', 10, 30, { parentId: 'sync' }),
  ];
  assert.deepEqual(shown(spans), [['0 run sandbox', '1 RunPodSandbox', '2 network', '0 create main']]);
  const [chart] = chartsOf(spans);
  const bar = chart!.bars.find((one) => one.span.name === 'network')!;
  assert.deepEqual([chart!.beginMs, chart!.endMs, bar.from, bar.width], [10, 60, 0.1, 0.1]);
});

test('starts far apart have separate charts, newest first', () => {
  const spans = [
    span('a', 0, 10, { detail: 'x' }),
    span('b', 8000, 8001, { open: true }),
    span('read', 20_000, 20_001),
  ];
  assert.deepEqual(shown(spans), [['0 b'], ['0 a']]);
});

test('spans that are their own ancestors, and very deep ones, are omitted', () => {
  const circle = [span('a', 0, 9, { parentId: 'b' }), span('b', 1, 8, { parentId: 'a' }), span('top', 0, 5)];
  assert.deepEqual(shown(circle), [['0 top']]);
  const deep = Array.from({ length: 10_000 }, (_, index) => span(`${index}`, index, 1e6, { parentId: `${index - 1}` }));
  assert.equal(chartsOf(deep)[0]!.bars.length, 51);
});
