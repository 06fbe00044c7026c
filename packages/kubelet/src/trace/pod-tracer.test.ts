import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError, type Span } from '@podwright/base';
import { PodTracer, type TraceSpan } from './pod-tracer.ts';
import { runtimeSpans } from './runtime-spans.ts';

/** A tracer whose traces are sampled, and what it has exported. */
function setUp() {
  const exported: Span[] = [];
  const add = (span: Span) => void exported.push(span);
  return { exported, pods: new PodTracer({ add, samples: () => true, close: async () => undefined }) };
}

const nothing = async () => undefined;

test('the steps of a sync are of one trace, and those of the next sync of another', async () => {
  const { exported, pods } = setUp();
  for (const name of ['syncPod', 'syncTerminatingPod'])
    await pods.sync('u', name, async () => {
      await pods.span('u', 'one', nothing);
      await pods.span('u', 'two', () => pods.span('u', 'inner', nothing));
    });
  const [one, inner, two, other] = pods.spans('u');
  assert.deepEqual(
    [one, inner, two, other].map((span) => span?.name),
    ['one', 'inner', 'two', 'one'],
  );
  assert.equal(inner?.parentId, two?.id);
  assert.equal(new Set([one, inner, two].map((span) => span?.traceId)).size, 1);
  assert.notEqual(other?.traceId, one?.traceId);
  const roots = exported.filter(({ parentId }) => parentId === undefined);
  assert.deepEqual(
    roots.map(({ name }) => name),
    ['syncPod', 'syncTerminatingPod'],
  );
  assert.deepEqual([one?.parentId, two?.parentId], [roots[0]?.spanId, roots[0]?.spanId]);
  assert.equal(roots[0]?.attributes?.['k8s.pod.uid'], 'u');
});

test('a sync without steps is no trace, and calls outside of steps are in none', async () => {
  const { exported, pods } = setUp();
  const current = await pods.sync('u', 'syncPod', async () => pods.tracer.current());
  assert.deepEqual([current, exported, pods.spans('u')], [undefined, [], []]);
});

test('a step that fails says why', async () => {
  const { pods } = setUp();
  const observed: TraceSpan[] = [];
  pods.observe((_uid, span) => observed.push(span));
  const fail = () => Promise.reject(new PodwrightError('internal', 'x'.repeat(1000)));
  await assert.rejects(pods.span('u', 'run sandbox', fail));
  assert.equal(observed[0]?.detail, `failed: ${'x'.repeat(292)}`);
});

test('of a runtime that tells of no spans, or too late, none are shown', async () => {
  const { pods } = setUp();
  await pods.span('u', 'run sandbox', nothing);
  const steps = pods.spans('u');
  const asked: string[][] = [];
  const answering = (answer: () => Promise<object>) => ({
    traces: {
      listSpans: ({ traceIds }: { traceIds: string[] }) => {
        asked.push(traceIds);
        return answer();
      },
    },
  });
  const check = async (answer: () => Promise<object>, expected: object[]) =>
    assert.deepEqual(
      await runtimeSpans(answering(answer) as never, [...steps, { name: 'seen', startMs: 0, endMs: 0 }]),
      expected,
    );
  await check(() => Promise.reject(new PodwrightError('unimplemented', 'unknown service podwright.v1.Traces')), []);
  const { traceId } = steps[0]!;
  const told = { traceId, spanId: 's', parentId: 'p', name: 'RunPodSandbox', startMs: 1, endMs: 2 };
  await check(
    async () => ({
      spans: [
        { ...told, error: '' },
        { ...told, error: 'no' },
      ],
    }),
    [
      { name: 'RunPodSandbox', startMs: 1, endMs: 2, traceId, id: 's', parentId: 'p' },
      { name: 'RunPodSandbox', startMs: 1, endMs: 2, detail: 'failed: no', traceId, id: 's', parentId: 'p' },
    ],
  );
  assert.deepEqual(asked, [[traceId], [traceId]]);
});

test('steps that are under way are shown, here and at the runtime', async () => {
  const { pods } = setUp();
  const { promise, resolve } = Promise.withResolvers<void>();
  const step = pods.span('u', 'run sandbox', () => promise);
  const [open] = pods.spans('u');
  assert.deepEqual([open?.name, open?.open, pods.spans('other')], ['run sandbox', true, []]);
  assert.ok(open!.endMs >= open!.startMs);
  const told = { traceId: open!.traceId, spanId: 'r', parentId: open!.id, name: 'RunPodSandbox', startMs: 1, endMs: 0 };
  const cri = { traces: { listSpans: async () => ({ spans: [{ ...told, error: '' }] }) } };
  const [at] = await runtimeSpans(cri as never, [open!]);
  assert.deepEqual([at?.name, at?.open], ['RunPodSandbox', true]);
  resolve();
  await step;
  assert.deepEqual(
    pods.spans('u').map(({ open }) => open),
    [undefined],
  );
});
