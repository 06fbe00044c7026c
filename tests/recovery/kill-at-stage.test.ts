import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ContainerState, PodSandboxState, Protocol } from '@podwright/cri';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

/** Calls that change a pod. Each has stages (failpoints), and the runtime may be killed at any of them. */
const VERBS = [
  ...['sandbox-run', 'sandbox-stop', 'sandbox-remove', 'network-up', 'network-down'],
  ...['container-create', 'container-start', 'container-update', 'container-stop', 'container-remove'],
];

/** Returns all stages found in the runtime's source code, so that new ones are tested automatically. */
function stagesInCode(): string[] {
  const source = fileURLToPath(new URL('../../packages/runtime/src', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const calls = files.flatMap((name) => [
    ...readFileSync(join(source, name), 'utf8').matchAll(/failpoint\(([^)]*)\)/g),
  ]);
  return calls.map(([call, argument]) => {
    const stage = /^'([a-z]+-[a-z]+\/[a-z-]+)'$/.exec(argument!)?.[1];
    assert.ok(stage !== undefined, `${call} has no stage`);
    return stage;
  });
}

const stages = stagesInCode();
const runtime = new RuntimeUnderTest();
const { place } = runtime;
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

/** Makes a kubelet's calls for one pod, from creation to removal. */
async function lifeOfPod({ cri }: KillableRuntime, name: string): Promise<void> {
  const pod = {
    ...podOf(place, name),
    annotations: { 'kubernetes.io/ingress-bandwidth': '1M', 'kubernetes.io/egress-bandwidth': '1M' },
    portMappings: [{ protocol: Protocol.TCP, containerPort: 80, hostPort: 38131 }],
  };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: pod });
  const config = containerOf(runtime.image, 'main', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  await cri.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 64n << 20n } });
  await cri.runtime.stopContainer({ containerId, timeout: 1n });
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.stopPodSandbox({ podSandboxId });
  await cri.runtime.removePodSandbox({ podSandboxId });
}

test('each call that changes a pod has stages', () => {
  assert.deepEqual([...new Set(stages.map((stage) => stage.split('/')[0]))].sort(), VERBS.sort());
});

for (const stage of stages) {
  test(`killed at ${stage}, a retry succeeds and nothing is left`, async () => {
    await removePods(); // leftovers of an earlier, failed stage
    await daemon.dieAt(stage);
    try {
      await assert.rejects(lifeOfPod(daemon, 'victim')); // the runtime dies in the middle
      await daemon.dead();
    } finally {
      await daemon.kill(); // in case it did not die, so that the next stage can be tested
      daemon = await startKillable(place);
    }
    await removePods();
    await lifeOfPod(daemon, 'victim');
    assert.deepEqual(await runtime.remains(), []);
  });
}

async function removePods(): Promise<void> {
  for (const { id } of (await daemon.cri.runtime.listPodSandbox({})).items) {
    await daemon.cri.runtime.removePodSandbox({ podSandboxId: id });
  }
}

test('if a kill of the runtime interrupts the removal of a container, the next runtime completes it', async () => {
  const { podSandboxId } = await daemon.cri.runtime.runPodSandbox({ config: podOf(place, 'removed') });
  const create = async () => {
    const config = containerOf(runtime.image, 'main', 'exec sleep 1000');
    return (await daemon.cri.runtime.createContainer({ podSandboxId, config })).containerId;
  };
  for (const stage of stages.filter((name) => name.startsWith('container-remove/'))) {
    const containerId = await create();
    await daemon.cri.runtime.startContainer({ containerId });
    await daemon.dieAt(stage);
    await daemon.cri.runtime.removeContainer({ containerId }).catch(() => undefined); // it may be answered before the stage is reached
    await daemon.dead();
    daemon = await startKillable(place);
    assert.deepEqual((await daemon.cri.runtime.listContainers({})).containers, [], stage);
    const places = ['state/containers', 'state/tasks', 'state/oci/records', 'root/containers'];
    const left = places.flatMap((path) => readdirSync(join(place.directory, path)));
    assert.deepEqual(
      left.filter((name) => name.startsWith(containerId)),
      [],
      stage,
    );
    await daemon.cri.runtime.removeContainer({ containerId: await create() }); // its name is free
  }
  await daemon.cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('running containers survive the runtime, and exits that happen meanwhile are reported', async () => {
  const first = daemon;
  const { podSandboxId } = await first.cri.runtime.runPodSandbox({ config: podOf(place, 'survivor') });
  const start = async (name: string, script: string) => {
    const config = containerOf(runtime.image, name, script);
    const { containerId } = await first.cri.runtime.createContainer({ podSandboxId, config });
    await first.cri.runtime.startContainer({ containerId });
    return containerId;
  };
  const steady = await start('steady', 'exec sleep 1000');
  const brief = await start('brief', 'until [ -e /go ]; do sleep 0.05; done; exit 5');
  const before = (await first.cri.runtime.containerStatus({ containerId: steady, verbose: true })).info.info!;
  await first.cri.runtime.execSync({ containerId: brief, cmd: ['touch', '/go'], timeout: 5n });
  await first.kill();

  daemon = await startKillable(place);
  const { cri } = daemon;
  assert.equal((await cri.runtime.podSandboxStatus({ podSandboxId })).status?.state, PodSandboxState.SANDBOX_READY);
  const { status, info } = await cri.runtime.containerStatus({ containerId: steady, verbose: true });
  assert.equal(status?.state, ContainerState.CONTAINER_RUNNING);
  assert.equal(JSON.parse(info.info!).pid, JSON.parse(before).pid);
  const ended = (await cri.runtime.containerStatus({ containerId: brief })).status;
  assert.deepEqual([ended?.state, ended?.reason, ended?.exitCode], [ContainerState.CONTAINER_EXITED, 'Error', 5]);
  const { stdout } = await cri.runtime.execSync({ containerId: steady, cmd: ['echo', 'hi'], timeout: 5n });
  assert.equal(Buffer.from(stdout).toString(), 'hi\n');
  await cri.runtime.stopContainer({ containerId: steady, timeout: 1n });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});
