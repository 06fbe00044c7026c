/** Garbage collection on Debian's containerd: unknown pods and what they leave behind, and unused images. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { cgroupDirectory, createCgroup, discoverCgroups, treeOf } from '@podwright/host';
import type { KubeletOptions } from '@podwright/kubelet';
import { ImageGarbageCollector } from '../../packages/kubelet/src/gc/image-gc.ts';
import { writeExampleArchive } from '../../scripts/example-image.ts';
import { busyboxImage } from './containerd.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { type RestartableRuntime, startOtherRuntime } from './suite-runtime.fixture.ts';

let runtime: RestartableRuntime;
before(async () => {
  runtime = await startOtherRuntime('gc');
});
after(() => runtime.stop());

async function start(context: TestContext, given: Partial<KubeletOptions> = {}): Promise<RealKubelet> {
  const kubelet = await startRealKubelet(runtime, given);
  context.after(() => kubelet.close());
  return kubelet;
}

const manifest = (name: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: "${busyboxImage}", command: [sleep, "1000"]}]
`;

test('orphaned pods and their volumes, logs and cgroups are removed while the kubelet runs', async (context) => {
  const kubelet = await start(context, { orphanPeriodMs: 200 });
  const { rootDir, podLogsDir, cgroupRoot } = kubelet.options;
  await kubelet.apply('kept.yaml', manifest('kept'));
  const kept = await kubelet.pod('kept', ({ status }) => status?.phase === 'Running');

  const volume = join(rootDir, 'pods/gone-uid/volumes/kubernetes.io~empty-dir/data');
  const logs = join(podLogsDir, 'default_gone_gone-uid/main');
  for (const directory of [volume, logs]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(volume, 'file'), 'left');
  writeFileSync(join(logs, '0.log'), '');
  const hierarchy = await discoverCgroups();
  const cgroup = join(cgroupRoot, 'kubepods/besteffort/podgone-uid');
  await createCgroup(hierarchy, cgroup);
  const left = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const leftEnded = once(left, 'exit');
  writeFileSync(join(cgroupDirectory(treeOf(hierarchy, 'memory')!, cgroup), 'cgroup.procs'), String(left.pid));
  await runStranger(kubelet, kept.metadata.uid);

  const { cri } = kubelet.handle;
  await kubelet.until('the volume is removed', () => !existsSync(join(rootDir, 'pods/gone-uid')));
  await kubelet.until('the logs are removed', () => !existsSync(join(podLogsDir, 'default_gone_gone-uid')));
  await kubelet.until(
    'the cgroup is removed',
    async () => (await kubelet.podCgroups()).join() === `pod${kept.metadata.uid}`,
  );
  await leftEnded;
  await kubelet.until('the sandbox is removed', async () => (await cri.runtime.listPodSandbox({})).items.length === 1);
  assert.equal(kubelet.handle.pods()[0]!.status!.containerStatuses![0]!.restartCount, 0);
  assert.ok(existsSync(join(podLogsDir, `default_kept_${kept.metadata.uid}`)));
});

test('each attempt of a failing init container is removed once, without warnings', async (context) => {
  const warnings: object[] = [];
  const warn = (fields: object, message: string) => void warnings.push({ ...fields, message });
  const crashLoopBackoff = { initialMs: 300, maxMs: 300 };
  const logger = { ...silentLogger, warn, child: () => logger };
  const kubelet = await start(context, { crashLoopBackoff, logger });
  const init = `initContainers: [{name: init, image: "${busyboxImage}", command: ["false"]}]`;
  await kubelet.apply('fails.yaml', `${manifest('fails')}  ${init}\n`);
  await kubelet.pod('fails', ({ status }) => (status?.initContainerStatuses?.[0]?.restartCount ?? 0) >= 5);
  assert.deepEqual(warnings, []);
});

/** Runs a sandbox with the labels that this kubelet sets, for a pod that has no manifest. */
async function runStranger({ handle, options }: RealKubelet, likeUid: string): Promise<void> {
  const { cri } = handle;
  const { items } = await cri.runtime.listPodSandbox({});
  const like = items.find(({ metadata }) => metadata?.uid === likeUid)!;
  const uid = 'stranger-uid';
  const metadata = { name: 'stranger', namespace: 'default', uid, attempt: 0 };
  const names = { 'io.kubernetes.pod.name': 'stranger', 'io.kubernetes.pod.uid': uid };
  await cri.runtime.runPodSandbox({
    config: {
      metadata,
      labels: { ...like.labels, ...names },
      annotations: like.annotations,
      logDirectory: join(options.podLogsDir, `default_stranger_${uid}`),
      linux: { securityContext: { namespaceOptions: { network: 2 } } },
    },
  });
}

test('unused images are removed if they are too old or the disk is too full, and images used by containers never', async (context) => {
  const kubelet = await start(context);
  await kubelet.apply('kept.yaml', manifest('kept'));
  await kubelet.pod('kept', ({ status }) => status?.phase === 'Running');
  const archive = join(runtime.scratch, 'unused.tar');
  const unused = 'localhost/podwright/unused:1';
  await writeExampleArchive(archive, { name: unused, config: { User: '1' } }); // gives the image a different id
  const { cri } = kubelet.handle;
  const names = async () => (await cri.image.listImages({})).images.flatMap(({ repoTags }) => repoTags);
  const input = {
    cri,
    logger: silentLogger,
    pods: () => [],
    warn: () => undefined,
    forgetImages: async () => undefined,
  };
  const never = { highThresholdPercent: 100, lowThresholdPercent: 100, minAgeMs: 0, maxAgeMs: 0 };
  const collect = async (policy: Partial<typeof never>) => {
    await runtime.load(archive);
    await kubelet.until('the image is loaded', async () => (await names()).includes(unused));
    const collector = new ImageGarbageCollector({ ...input, policy: { ...never, ...policy } });
    await collector.run().catch(() => undefined); // records the image as seen
    const seenAtMs = Date.now();
    await kubelet.until('a moment is over', () => Date.now() > seenAtMs + 1);
    await collector.run().catch(() => undefined); // fails if the disk is still too full
    return await names();
  };
  assert.ok((await collect({})).includes(unused));
  for (const policy of [{ maxAgeMs: 1 }, { highThresholdPercent: 0, lowThresholdPercent: 0 }]) {
    const left = await collect(policy);
    assert.ok(!left.includes(unused), JSON.stringify(policy));
    assert.ok(left.includes(busyboxImage));
  }
});
