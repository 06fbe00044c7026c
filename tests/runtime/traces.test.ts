import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newTrace, silentLogger, Tracer } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const runtime = new RuntimeUnderTest();
const tracer = new Tracer(() => undefined);
let cri: CriClient;

before(async () => {
  await runtime.start();
  cri = await connectCri({ runtimeEndpoint: runtime.place.options.socket, tracer, logger: silentLogger });
});

after(async () => {
  cri.close();
  assert.deepEqual(await runtime.end(), []);
});

/** Makes calls in a single trace; returns the runtime's spans as paths (the names of each span and its ancestors). */
async function pathsOf(work: () => Promise<unknown>): Promise<string[]> {
  const trace = newTrace(false);
  await tracer.within(trace, work);
  const { spans } = await cri.traces.listSpans({ traceIds: [trace.traceId, 'f'.repeat(32)] });
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = (id: string): string[] => {
    const span = byId.get(id);
    return span === undefined ? [] : [...pathOf(span.parentId), span.name.replace(/crun|runc/, 'OCI')];
  };
  for (const { startMs, endMs } of spans) assert.ok(endMs >= startMs && Math.abs(Date.now() - endMs) < 60_000);
  return spans.map(({ spanId }) => pathOf(spanId).join(' > '));
}

test('the steps of a traced pod are reported as nested spans', async () => {
  const config = podOf(runtime.place, 'traced');
  const container = containerOf(runtime.image, 'c', 'exec sleep 1000');
  const run = async () => {
    const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
    const made = { podSandboxId, config: container, sandboxConfig: config };
    const { containerId } = await cri.runtime.createContainer(made);
    await cri.runtime.startContainer({ containerId });
    await cri.runtime.execSync({ containerId, cmd: ['true'], timeout: 10n });
    return podSandboxId;
  };
  const end = async (podSandboxId: string) => {
    await cri.runtime.stopPodSandbox({ podSandboxId });
    await cri.runtime.removePodSandbox({ podSandboxId });
  };
  const paths = await pathsOf(async () => end(await run()));
  const expected = [
    'RunPodSandbox > set up network > netlink: address and link',
    'RunPodSandbox > start sandbox',
    'CreateContainer > make file system > snapshot and mount',
    'CreateContainer > make specification',
    'StartContainer > create task > conmon: OCI create',
    'StartContainer > start task > OCI start',
    'ExecSync > OCI exec',
    'StopPodSandbox > kill containers',
    'StopPodSandbox > tear down network',
    'RemovePodSandbox',
  ];
  for (const path of expected)
    assert.equal(paths.filter((one) => one === path).length, 1, `${path} in ${paths.join('\n')}`);
});

test('a failed span includes its reason, and a request for too many traces is rejected', async () => {
  const trace = newTrace(true);
  const image = { image: '127.0.0.1:1/none:1' };
  await assert.rejects(tracer.within(trace, () => cri.image.pullImage({ image })));
  const { spans } = await cri.traces.listSpans({ traceIds: [trace.traceId] });
  const [resolve, call] = spans;
  assert.deepEqual([resolve?.name, call?.name, resolve?.parentId], ['resolve', 'PullImage', call?.spanId]);
  assert.match(call?.error ?? '', /127\.0\.0\.1:1/);
  const traceIds = Array.from({ length: 1001 }, (_, index) => `${index}`);
  await assert.rejects(cri.traces.listSpans({ traceIds }), { code: 'invalid_argument' });
});
