import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { ContainerEventType, ContainerState } from '@podwright/cri';
import { runRemoteCommand } from '@podwright/streaming';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { loadImage } from '../security/made-image.fixture.ts';

const runtime = new RuntimeUnderTest();
before(async () => void (await runtime.start()));
after(async () => assert.deepEqual(await runtime.end(), []));

async function runPod(name: string, script: string) {
  const { cri, image, place } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const config = containerOf(image, 'main', script);
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

test('statistics have the usage of a container and its pod', async () => {
  const { cri } = runtime;
  const { podSandboxId, containerId } = await runPod('counted', 'echo x > /written; while :; do :; done');
  const first = (await cri.runtime.containerStats({ containerId })).stats;
  assert.equal(first?.attributes?.metadata?.name, 'main');
  assert.ok(first!.memory!.usageBytes!.value > 0n);
  assert.ok(first!.writableLayer!.inodesUsed!.value > 0n);
  await new Promise((resolve) => setTimeout(resolve, 200)); // CPU usage is averaged over a time span
  const { stats } = await cri.runtime.podSandboxStats({ podSandboxId });
  assert.ok(stats!.linux!.containers[0]!.cpu!.usageNanoCores!.value > 10_000_000n);
  assert.equal(stats?.linux?.network?.defaultInterface?.name, 'eth0');
  assert.ok(stats!.linux!.process!.processCount!.value >= 1n);
  assert.equal((await cri.runtime.listContainerStats({})).stats.length, 1);
  assert.equal((await cri.runtime.listPodSandboxStats({ filter: { id: podSandboxId.slice(0, 13) } })).stats.length, 1);
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('the pod’s network files, image volumes, and the layer of an exited container are counted', async () => {
  const { cri, image, place } = runtime;
  const volume = await loadImage(runtime, 'volume', { config: { Volumes: { '/v': {} } } });
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'writer') });
  const start = async (image: string, name: string, script: string) => {
    const config = containerOf(image, name, script);
    const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
    await cri.runtime.startContainer({ containerId });
    return containerId;
  };
  const ended = await start(image, 'ended', 'head -c 1000000 /dev/zero > /file');
  const hasEnded = async () =>
    (await cri.runtime.containerStatus({ containerId: ended })).status?.state === ContainerState.CONTAINER_EXITED ||
    undefined;
  await waitFor(hasEnded, { intervalMs: 10, signal: AbortSignal.timeout(10_000) });
  const script = 'head -c 2000000 /dev/zero > /v/file; head -c 4000000 /dev/zero > /etc/resolv.conf; exec sleep 1000';
  await start(volume, 'writer', script);
  const written = async () => {
    const { stats } = await cri.runtime.podSandboxStats({ podSandboxId });
    const containers = stats!.linux!.containers;
    return containers.map(({ writableLayer }) => Math.floor(Number(writableLayer!.usedBytes!.value) / 1_000_000));
  };
  await waitFor(async () => (await written())[0] === 5 || undefined, {
    intervalMs: 100,
    signal: AbortSignal.timeout(15_000),
  });
  await waitFor(async () => (await written())[1] === 2 || undefined, {
    intervalMs: 100,
    signal: AbortSignal.timeout(15_000),
  });
  await cri.runtime.removePodSandbox({ podSandboxId });
  await cri.image.removeImage({ image: { image: volume } });
});

test('exec streams in both directions and returns the exit code', async () => {
  const { cri } = runtime;
  const { podSandboxId, containerId } = await runPod('exec', 'exec sleep 1000');
  const cmd = ['sh', '-c', 'cat; echo err >&2; exit 4'];
  const { url } = await cri.runtime.exec({ containerId, cmd, stdin: true, stdout: true, stderr: true });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end('over there');
  const exitCode = await runRemoteCommand({ url }, { stdin, stdout, stderr, tty: false });
  stdout.end();
  stderr.end();
  assert.deepEqual([await text(stdout), await text(stderr), exitCode], ['over there', 'err\n', 4]);
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('every subscriber receives all pod events', async () => {
  const { cri } = runtime;
  const leave = new AbortController();
  const listen = async () => {
    const events: string[] = [];
    for await (const event of cri.runtime.getContainerEvents({}, { signal: leave.signal })) {
      const subject = event.podSandboxStatus?.id === event.containerId ? 'sandbox' : 'container';
      events.push(`${subject} ${ContainerEventType[event.containerEventType].split('_')[1]?.toLowerCase()}`);
      if (events.length === 8) return events;
    }
    return events;
  };
  const listeners = [listen(), listen()];
  await cri.runtime.version({}); // a later call on the same connection: once it is answered, the subscriptions are active
  const { podSandboxId, containerId } = await runPod('watched', 'exit 3');
  await runtime.untilExited(containerId);
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId });
  const expected = [
    'sandbox created',
    'sandbox started',
    'container created',
    'container started',
    'container stopped',
    'container deleted',
    'sandbox stopped',
    'sandbox deleted',
  ];
  assert.deepEqual(await Promise.all(listeners), [expected, expected]);
  leave.abort();
});
