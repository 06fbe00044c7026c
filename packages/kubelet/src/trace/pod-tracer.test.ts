import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError, type Span } from '@podwright/base';
import { PodTracer, type TraceSpan } from './pod-tracer.ts';
import { runtimeSpans } from './runtime-spans.ts';

/** A tracer that samples all traces, and the spans that it exports. */
function setUp() {
  const exported: Span[] = [];
  const add = (span: Span) => void exported.push(span);
  return { exported, pods: new PodTracer({ add, samples: () => true, close: async () => undefined }) };
}

const nothing = async () => undefined;

test('the steps of a sync form one trace, and those of the next sync form another', async () => {
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

test('a sync without steps is not exported, and calls outside of steps are not traced', async () => {
  const { exported, pods } = setUp();
  const current = await pods.sync('u', 'syncPod', async () => pods.tracer.current());
  assert.deepEqual([current, exported, pods.spans('u')], [undefined, [], []]);
});

test('a failed step includes its error as a detail', async () => {
  const { pods } = setUp();
  const observed: TraceSpan[] = [];
  pods.observe((_uid, span) => observed.push(span));
  const fail = () => Promise.reject(new PodwrightError('internal', 'x'.repeat(1000)));
  await assert.rejects(pods.span('u', 'run sandbox', fail));
  assert.equal(observed[0]?.detail, `failed: ${'x'.repeat(292)}`);
});

test('runtime spans are converted, and absent if the runtime does not support them', async () => {
  const { pods } = setUp();
  await pods.span('u', 'run sandbox', nothing);
  const steps = pods.spans('u');
  const requests: string[][] = [];
  const answering = (answer: () => Promise<object>) => ({
    traces: {
      listSpans: ({ traceIds }: { traceIds: string[] }) => {
        requests.push(traceIds);
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
  const span = { traceId, spanId: 's', parentId: 'p', name: 'RunPodSandbox', startMs: 1, endMs: 2 };
  await check(
    async () => ({
      spans: [
        { ...span, error: '' },
        { ...span, error: 'no' },
      ],
    }),
    [
      { name: 'RunPodSandbox', startMs: 1, endMs: 2, traceId, id: 's', parentId: 'p' },
      { name: 'RunPodSandbox', startMs: 1, endMs: 2, detail: 'failed: no', traceId, id: 's', parentId: 'p' },
    ],
  );
  assert.deepEqual(requests, [[traceId], [traceId]]);
});

test('unfinished steps of the kubelet and the runtime are included', async () => {
  const { pods } = setUp();
  const { promise, resolve } = Promise.withResolvers<void>();
  const step = pods.span('u', 'run sandbox', () => promise);
  const [open] = pods.spans('u');
  assert.deepEqual([open?.name, open?.open, pods.spans('other')], ['run sandbox', true, []]);
  assert.ok(open!.endMs >= open!.startMs);
  const span = { traceId: open!.traceId, spanId: 'r', parentId: open!.id, name: 'RunPodSandbox', startMs: 1, endMs: 0 };
  const cri = { traces: { listSpans: async () => ({ spans: [{ ...span, error: '' }] }) } };
  const [at] = await runtimeSpans(cri as never, [open!]);
  assert.deepEqual([at?.name, at?.open], ['RunPodSandbox', true]);
  resolve();
  await step;
  assert.deepEqual(
    pods.spans('u').map(({ open }) => open),
    [undefined],
  );
});
