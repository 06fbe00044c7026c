import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SpanStore } from './span-store.ts';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';
import { newTrace, type Span, Tracer } from './tracer.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a traceparent is parsed as specified by W3C, and ignored if malformed', () => {
  const check = (header: string | undefined, expected: { sampled: boolean } | undefined) =>
    assert.deepEqual(parseTraceparent(header), expected && { traceId: TRACE, spanId: SPAN, ...expected }, header);
  check(`00-${TRACE}-${SPAN}-01`, { sampled: true });
  check(`00-${TRACE}-${SPAN}-00`, { sampled: false });
  check(`00-${TRACE}-${SPAN}-fe`, { sampled: false });
  check(`cc-${TRACE}-${SPAN}-03-what-comes-later`, { sampled: true });
  check(undefined, undefined);
  check('', undefined);
  check(`00-${TRACE}-${SPAN}-01-more`, undefined);
  check(`cc-${TRACE}-${SPAN}-01more`, undefined);
  check(`ff-${TRACE}-${SPAN}-01`, undefined);
  check(`00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined);
  check(`00-${'0'.repeat(32)}-${SPAN}-01`, undefined);
  check(`00-${TRACE}-${'0'.repeat(16)}-01`, undefined);
  check(`00-${TRACE}-${SPAN}-1`, undefined);
  check(` 00-${TRACE}-${SPAN}-01`, undefined);
  check(`00-${TRACE}-${SPAN}-01\n`, undefined);
  check(`01-${TRACE}-${SPAN}-01-${'x'.repeat(1000)}`, undefined);
});

test('a context round-trips through a header', () => {
  for (const sampled of [true, false]) {
    const context = newTrace(sampled);
    assert.deepEqual(parseTraceparent(formatTraceparent(context)), context);
  }
});

test('spans are nested like their work, even if it is concurrent, and record why it failed', async () => {
  const spans: Span[] = [];
  const tracer = new Tracer((span) => spans.push(span));
  const root = newTrace(true);
  const failing = tracer.record({ parent: root, name: 'outer', isServer: true }, async () => {
    const leaf = async () => void (await setImmediate());
    await Promise.all(['a', 'b'].map((name) => tracer.span(name, () => tracer.span(`${name} leaf`, leaf))));
    throw new Error('x'.repeat(1000));
  });
  await assert.rejects(failing);
  const byName = new Map(spans.map((span) => [span.name, span]));
  const outer = byName.get('outer')!;
  assert.equal(outer.parentId, root.spanId);
  assert.equal(outer.error, 'x'.repeat(300));
  for (const name of ['a', 'b']) {
    assert.equal(byName.get(name)?.parentId, outer.spanId);
    assert.equal(byName.get(`${name} leaf`)?.parentId, byName.get(name)?.spanId);
  }
  assert.deepEqual(new Set(spans.map(({ traceId }) => traceId)), new Set([root.traceId]));
});

test('work outside of any trace runs without a span', async () => {
  const spans: Span[] = [];
  const tracer = new Tracer((span) => spans.push(span));
  assert.equal(await tracer.span('nothing', async () => tracer.current()), undefined);
  assert.deepEqual(spans, []);
});

test('callbacks that outlive their work belong to no trace', async () => {
  const tracer = new Tracer(() => undefined);
  const gate = Promise.withResolvers<void>();
  let left: Promise<unknown> = Promise.resolve();
  const during = await tracer.within(newTrace(true), async () => {
    left = gate.promise.then(() => tracer.current());
    return tracer.current();
  });
  gate.resolve();
  assert.notEqual(during, undefined);
  assert.equal(await left, undefined);
});

test('the span store retains the latest traces, and the first spans of each', () => {
  const store = new SpanStore({ traces: 2, spansPerTrace: 3 });
  const span = { spanId: SPAN, sampled: false, startMs: 0, endMs: 1 };
  for (const traceId of ['a', 'b', 'c'])
    for (let index = 0; index < 5; index++) store.add({ ...span, traceId, name: `${traceId}${index}` });
  const names = (traceId: string) => store.spans(traceId).map(({ name }) => name);
  assert.deepEqual(names('a'), []);
  assert.deepEqual(names('b'), ['b0', 'b1', 'b2']);
  assert.deepEqual(names('c'), ['c0', 'c1', 'c2']);
});
