/** Adds and removes many pods: they leave nothing behind, and the runtime's memory does not grow. TEST_PODS is the number of pods. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Limiter, waitFor, withTimeout } from '@podwright/base';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { lookAt } from './process-look.ts';

const PODS = Number(process.env.TEST_PODS ?? 60);
const AT_ONCE = 8;
/** Heap growth allowed for compiled code and caches. */
const HEAP_SLACK_BYTES = 12 << 20;
/** RSS growth allowed for memory that V8 and the C library retain. */
const RSS_SLACK_BYTES = 80 << 20;

const runtime = new RuntimeUnderTest();
const { place } = runtime;
before(async () => {
  await runtime.start();
  await runtime.stop();
});
after(async () => {
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

async function onePod({ cri }: KillableRuntime, name: string): Promise<void> {
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const config = containerOf(runtime.image, 'main', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  await cri.runtime.execSync({ containerId, cmd: ['true'], timeout: 60n });
  await cri.runtime.stopContainer({ containerId, timeout: 0n });
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.stopPodSandbox({ podSandboxId });
  await cri.runtime.removePodSandbox({ podSandboxId });
}

async function manyPods(daemon: KillableRuntime, count: number): Promise<void> {
  const limiter = new Limiter(AT_ONCE);
  await Promise.all(Array.from({ length: count }, (_, index) => limiter.run(() => onePod(daemon, `pod-${index}`))));
}

test(`${PODS} added and removed pods leave nothing behind, and do not grow the runtime`, async (context) => {
  const daemon = await startKillable(place);
  try {
    await manyPods(daemon, Math.ceil(PODS / 5)); // warms up: allocates everything that the runtime allocates once
    assert.deepEqual(await runtime.remains(), []);
    const first = { ...lookAt(daemon.pid), ...(await daemon.memory()) };
    await manyPods(daemon, PODS);
    assert.deepEqual(await runtime.remains(), []);
    using signal = withTimeout(undefined, 60_000, 'wait for descriptors to be closed');
    const closed = () => lookAt(daemon.pid).descriptors.length <= first.descriptors.length || undefined;
    await waitFor(closed, { intervalMs: 50, signal }).catch(() =>
      assert.deepEqual(lookAt(daemon.pid).descriptors, first.descriptors),
    );
    const last = { ...lookAt(daemon.pid), ...(await daemon.memory()) };
    const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
    const sizes = [first, last].map(({ heapBytes, rssBytes }) => `${mib(heapBytes)} heap, ${mib(rssBytes)} resident`);
    context.diagnostic(`memory before ${PODS} pods and after: ${sizes.join('; ')}`);
    assert.ok(last.threads <= first.threads, `${last.threads} threads, before ${first.threads}`);
    assert.ok(last.heapBytes < first.heapBytes + HEAP_SLACK_BYTES, `memory grows: ${sizes.join(' to ')}`);
    assert.ok(last.rssBytes < first.rssBytes + RSS_SLACK_BYTES, `memory grows: ${sizes.join(' to ')}`);
  } finally {
    await daemon.kill();
  }
});
