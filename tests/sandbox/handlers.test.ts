import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { type CriClient, NamespaceMode, PodSandboxState } from '@podwright/cri';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, type Modes, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest, type TestPlace } from '../fixtures/runtime-under-test.ts';

const PAUSE_IMAGE = 'localhost/podwright/pause:1';
const runc = { task: 'oci', program: 'runc' };
const handlers = {
  pinned: { ...runc, sandbox: 'pinned' },
  pause: { ...runc, sandbox: 'pause' },
  'pause-image': { ...runc, sandbox: 'pause', pauseImage: PAUSE_IMAGE },
};
const place = makeTestPlace();
place.options.handlers = handlers;
place.options.ociRuntime = 'runc';
const runtime = new RuntimeUnderTest(place);

before(async () => {
  await runtime.start();
  await runtime.stop();
});
after(async () => {
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

/** Runs `work` with a runtime in a separate process, then kills it. */
async function withRuntime(work: (cri: CriClient) => Promise<void>, at: TestPlace = place): Promise<void> {
  const { cri, kill } = await startKillable(at);
  await work(cri).finally(kill);
}

/** Loads an image whose program sleeps, running as a non-root user. */
async function loadPauseImage(cri: CriClient): Promise<void> {
  const config = { Entrypoint: ['/bin/sleep', '100000'], Cmd: [], User: '65535:65535', Env: ['WHO=pause'] };
  const layout = mkdtempSync(join(place.directory, 'image', 'pause-'));
  await makeBusyboxImage(layout, { name: PAUSE_IMAGE, config });
  for await (const _ of cri.transfers.load({ path: layout })); // reads the stream to its end
}

async function startPod(cri: CriClient, handler: string, modes: Modes = {}) {
  if (handler === 'pause-image') await loadPauseImage(cri);
  const { podSandboxId } = await cri.runtime.runPodSandbox({
    config: podOf(place, `on-${handler}`, modes),
    runtimeHandler: handler,
  });
  const config = containerOf(runtime.image, 'main', 'exec sleep 1000', modes);
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

/** Removes a pod and then the pause image, which must no longer be in use. */
async function removePod(cri: CriClient, podSandboxId: string): Promise<void> {
  await cri.runtime.removePodSandbox({ podSandboxId });
  await cri.image.removeImage({ image: { image: PAUSE_IMAGE } });
}

async function output(cri: CriClient, containerId: string, script: string): Promise<string> {
  const { stdout } = await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 60n });
  return Buffer.from(stdout).toString().trim();
}

async function isReady(cri: CriClient, podSandboxId: string): Promise<boolean> {
  const { status } = await cri.runtime.podSandboxStatus({ podSandboxId });
  return status?.state === PodSandboxState.SANDBOX_READY;
}

/** Returns the PID of the pod's infra process, whose cgroup is named after the sandbox ID. */
function infraProcess(podSandboxId: string): number | undefined {
  const inCgroup = (pid: string) => readProc(`${pid}/cgroup`).includes(`/${podSandboxId}\n`);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && inCgroup(name))
    .map(Number)[0];
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return ''; // the process has exited
  }
}

const untilNotReady = (cri: CriClient, podSandboxId: string) =>
  waitFor(async () => ((await isReady(cri, podSandboxId)) ? undefined : true), {
    intervalMs: 50,
    signal: AbortSignal.timeout(60_000),
  });

test('pods of every handler survive the runtime, and can be used and stopped when their handlers are no longer configured', async () => {
  const looks = 'hostname; hostname -i; readlink /proc/self/ns/net /proc/self/ns/pid';
  const pods: { podSandboxId: string; containerId: string; sandbox: string; seen: string; infra?: number }[] = [];
  await withRuntime(async (cri) => {
    for (const [handler, { sandbox }] of Object.entries(handlers)) {
      const pod = await startPod(cri, handler, { pid: NamespaceMode.POD });
      const seen = await output(cri, pod.containerId, looks);
      pods.push({ ...pod, sandbox, seen, infra: infraProcess(pod.podSandboxId) });
    }
  });
  const without = { ...place, options: { ...place.options, handlers: {} } };
  await withRuntime(async (cri) => {
    const config = podOf(place, 'new');
    await assert.rejects(
      cri.runtime.runPodSandbox({ config, runtimeHandler: 'pause' }),
      /no runtime for handler "pause"/,
    );
    for (const { podSandboxId, containerId, sandbox, seen, infra } of pods) {
      assert.ok(await isReady(cri, podSandboxId));
      assert.equal(infraProcess(podSandboxId), infra);
      assert.equal(await output(cri, containerId, looks), seen);
      const { info } = await cri.runtime.podSandboxStatus({ podSandboxId, verbose: true });
      assert.equal(JSON.parse(info.info!).controller, sandbox);
      await cri.runtime.stopPodSandbox({ podSandboxId });
      assert.ok(!(await isReady(cri, podSandboxId)));
      await removePod(cri, podSandboxId);
    }
    assert.deepEqual(await runtime.remains(), []);
  }, without);
});

test('a pod’s own process uses the handler’s image, and shares only its PID namespace', () =>
  withRuntime(async (cri) => {
    const shared = await startPod(cri, 'pause-image', { pid: NamespaceMode.POD });
    assert.match(await output(cri, shared.containerId, 'ps -o user,args'), /^65535 +\/bin\/sleep 100000$/m);
    const pid = infraProcess(shared.podSandboxId);
    assert.match(readProc(`${pid}/environ`), /WHO=pause/);
    assert.match(readProc(`${pid}/status`), /^CapBnd:\s0+$/m);
    const { images } = await cri.image.listImages({ filter: { image: { image: PAUSE_IMAGE } } });
    assert.equal(images[0]?.pinned, true);
    await removePod(cri, shared.podSandboxId);
    const alone = await startPod(cri, 'pause-image');
    assert.doesNotMatch(await output(cri, alone.containerId, 'ps -o args'), /sleep 100000/);
    await removePod(cri, alone.podSandboxId);
    assert.deepEqual(await runtime.remains(), []);
  }));

test('a pod is no longer ready when its own process dies, even while the runtime is down', async () => {
  let second = '';
  await withRuntime(async (cri) => {
    const { podSandboxId } = await startPod(cri, 'pause');
    process.kill(infraProcess(podSandboxId)!, 'SIGKILL');
    await untilNotReady(cri, podSandboxId);
    await removePod(cri, podSandboxId);
    second = (await startPod(cri, 'pause')).podSandboxId;
  });
  process.kill(infraProcess(second)!, 'SIGKILL');
  await withRuntime(async (cri) => {
    await untilNotReady(cri, second);
    await removePod(cri, second);
    assert.deepEqual(await runtime.remains(), []);
  });
});

for (const stage of ['sandbox-run/network-up', 'sandbox-stop/network-down']) {
  test(`killed at ${stage} of a pod with its own process, a retry succeeds and nothing is left`, async () => {
    const first = await startKillable(place, stage);
    const life = async () => removePod(first.cri, (await startPod(first.cri, 'pause-image')).podSandboxId);
    await assert.rejects(life()); // the runtime dies in the middle
    await first.dead();
    await withRuntime(async (cri) => {
      for (const { id } of (await cri.runtime.listPodSandbox({})).items) await removePod(cri, id);
      await removePod(cri, (await startPod(cri, 'pause-image')).podSandboxId);
      assert.deepEqual(await runtime.remains(), []);
    });
  });
}
