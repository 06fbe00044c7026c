/** The runtime is killed while a plugin handles an event. The next runtime completes or undoes what was under way. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runPlugin } from '@podwright/nri';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { EVENT_NAMES_OF_PODS, nriOptions } from './nri-options.fixture.ts';

const place = makeTestPlace();
const nri = nriOptions(place);
place.options.nri = nri;
const runtime = new RuntimeUnderTest(place);
let daemon: KillableRuntime;
before(async () => {
  await runtime.start();
  await runtime.stop();
  daemon = await startKillable(place);
});
after(async () => {
  await daemon.kill();
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

/** A kubelet's calls for one pod from its creation to its removal. */
async function lifeOfPod({ cri }: KillableRuntime): Promise<void> {
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'victim') });
  const config = containerOf(runtime.image, 'main', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  await cri.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 64n << 20n } });
  await cri.runtime.updatePodSandboxResources({ podSandboxId });
  await cri.runtime.stopContainer({ containerId, timeout: 0n });
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId });
}

for (const event of EVENT_NAMES_OF_PODS) {
  test(`killed while a plugin handles ${event}, a retry succeeds and nothing is left`, async () => {
    const ready = Promise.withResolvers<void>();
    const killed = Promise.withResolvers<void>();
    const kill = async () => {
      await daemon.kill();
      killed.resolve();
      return undefined;
    };
    const synchronize = () => {
      ready.resolve();
      return [];
    };
    const handlers = { synchronize, [event]: kill };
    const plugin = await runPlugin({ name: 'killer', index: '10', socket: nri.socketPath, handlers });
    await ready.promise;
    const life = lifeOfPod(daemon).catch(() => undefined); // a call may be answered before the kill
    await killed.promise;
    await life;
    await plugin.closed;
    daemon = await startKillable(place);
    for (const { id } of (await daemon.cri.runtime.listPodSandbox({})).items)
      await daemon.cri.runtime.removePodSandbox({ podSandboxId: id });
    await lifeOfPod(daemon);
    assert.deepEqual(await runtime.remains(), []);
  });
}
