/** Volumes of a CSI driver in pods on Podwright's runtime, including kubelets killed in the process. Requires root. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { startKubelet } from '@podwright/kubelet';
import { CsiDriverUnderTest, isThere, mountsBelow } from './csi-driver.fixture.ts';
import { killKubelet, startKubeletChild } from './kubelet-child.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { type SuiteRuntime, startOurRuntime } from './suite-runtime.fixture.ts';

let runtime: SuiteRuntime;
let kubelet: RealKubelet;
let driver: CsiDriverUnderTest;
before(async () => {
  runtime = await startOurRuntime('csi');
  kubelet = await startRealKubelet(runtime);
  driver = newDriver('csi.test');
  await driver.start();
});
after(async () => {
  await (driver as CsiDriverUnderTest | undefined)?.behave({});
  await (kubelet as RealKubelet | undefined)?.close(); // if it was started
  await (driver as CsiDriverUnderTest | undefined)?.kill();
  await (runtime as SuiteRuntime | undefined)?.stop();
});

function newDriver(name: string): CsiDriverUnderTest {
  const { rootDir } = kubelet.options;
  return new CsiDriverUnderTest({ name, rootDir, data: join(rootDir, '..', `data-${name}`) });
}

const write = (name: string, driverName: string, command = 'echo hello > /data/file; sleep 3600') =>
  kubelet.apply(
    `${name}.yaml`,
    `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: data, csi: {driver: ${driverName}, volumeAttributes: {size: small}}}]
  containers:
  - {name: main, image: '${runtime.image}', imagePullPolicy: Never, command: [sh, -c, '${command}'], volumeMounts: [{name: data, mountPath: /data}]}
`,
  );

const isRunning = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.running !== undefined;
const podDirectory = (uid: string) => join(kubelet.options.rootDir, 'pods', uid);
const isRemoved = (name: string) => () => kubelet.handle.pods().every(({ metadata }) => metadata.name !== name);
const messagesOf = (name: string) =>
  kubelet.handle.events().flatMap((event) => (event.involvedObject.name === name ? [event.message] : []));

test('an ephemeral volume is created for its pod and removed with it', async () => {
  driver.forget();
  await write('inline', driver.name);
  const { uid } = (await kubelet.pod('inline', isRunning)).metadata;
  const handle = readdirSync(driver.data)[0]!;
  const file = join(driver.data, handle, 'file');
  await kubelet.until('the file exists', () => isThere(file) && readFileSync(file, 'utf8') === 'hello\n');
  assert.match(handle, /^csi-[\da-f]{64}$/);
  const published = (await driver.allCalls()).find(({ call }) => call === 'nodePublishVolume')!.request;
  const place = join(podDirectory(uid), 'volumes/kubernetes.io~csi/data');
  assert.deepEqual(
    [published.volumeId, published.targetPath, published.stagingTargetPath, published.readonly],
    [handle, join(place, 'mount'), '', false],
  );
  assert.deepEqual(published.volumeContext, {
    size: 'small',
    'csi.storage.k8s.io/pod.name': 'inline',
    'csi.storage.k8s.io/pod.namespace': 'default',
    'csi.storage.k8s.io/pod.uid': uid,
    'csi.storage.k8s.io/serviceAccount.name': '',
    'csi.storage.k8s.io/ephemeral': 'true',
  });
  const data = JSON.parse(readFileSync(join(place, 'vol_data.json'), 'utf8'));
  assert.deepEqual([data.driverName, data.volumeHandle, data.volumeLifecycleMode], [driver.name, handle, 'Ephemeral']);
  await kubelet.remove('inline.yaml');
  await kubelet.until('the pod is removed', isRemoved('inline'));
  assert.deepEqual(await driver.volumeCalls(), ['nodePublishVolume', 'nodeUnpublishVolume']);
  assert.deepEqual(mountsBelow(kubelet.options.rootDir), []);
  assert.equal(isThere(podDirectory(uid)), false);
});

test('a pod waits for a driver that registers later, and a hanging driver does not block other pods', async () => {
  const late = newDriver('late.test');
  await write('late', late.name);
  await kubelet.until('the event is published', () =>
    messagesOf('late').some((message) =>
      message.endsWith('driver name late.test not found in the list of registered CSI drivers'),
    ),
  );
  await driver.behave({ nodePublishVolume: { hang: true } });
  driver.forget();
  await write('hangs', driver.name);
  await driver.called('nodePublishVolume');
  await late.start();
  await kubelet.pod('late', isRunning);
  await kubelet.remove('hangs.yaml');
  await kubelet.until('the pod of the hanging driver is removed', isRemoved('hangs'));
  assert.deepEqual(await driver.volumeCalls(), ['nodePublishVolume', 'nodeUnpublishVolume']);
  await driver.behave({});
  await kubelet.remove('late.yaml');
  await kubelet.until('the other pod is removed', isRemoved('late'));
  await late.kill();
});

test('a driver error is reported, and the call is retried', async () => {
  await driver.behave({ nodePublishVolume: { error: 13 } });
  await write('refused', driver.name);
  await kubelet.until('the event is published', () =>
    messagesOf('refused').includes(
      'MountVolume.SetUp failed for volume "data" : rpc error: code = Internal desc = configured to fail nodePublishVolume',
    ),
  );
  await driver.behave({});
  await kubelet.pod('refused', isRunning);
  await kubelet.remove('refused.yaml');
  await kubelet.until('the pod is removed', isRemoved('refused'));
});

test('a pod keeps its volume across kubelet and driver restarts', async () => {
  await write('stays', driver.name, 'while sleep 0.1; do date > /data/beat || exit 1; done');
  const before = await kubelet.pod('stays', isRunning);
  await driver.kill();
  await kubelet.restart();
  await kubelet.pod('stays', isRunning);
  await driver.start();
  driver.forget();
  await driver.called('nodePublishVolume');
  const now = await kubelet.pod('stays', isRunning);
  assert.equal(now.status?.containerStatuses?.[0]?.containerID, before.status?.containerStatuses?.[0]?.containerID);
  assert.equal(now.status?.containerStatuses?.[0]?.restartCount, 0);
  await kubelet.remove('stays.yaml');
  await kubelet.until('the pod is removed', isRemoved('stays'));
  assert.deepEqual(mountsBelow(kubelet.options.rootDir), []);
});

for (const [when, misbehaviour, isDeleted] of [
  ['after a driver has published the volume', { nodePublishVolume: { hangAfter: true } }, false],
  ['after a driver has unpublished the volume', { nodeUnpublishVolume: { hangAfter: true } }, true],
] as const) {
  test(`a kubelet that is killed ${when} leaves nothing behind`, async () => {
    await kubelet.handle.close();
    driver.forget();
    await driver.behave(misbehaviour);
    await write('killed', driver.name);
    const child = await startKubeletChild(kubelet.options); // the kubelet above is stopped meanwhile
    await driver.called('nodePublishVolume');
    const [uid] = readdirSync(join(kubelet.options.rootDir, 'pods'));
    if (isDeleted) {
      await kubelet.remove('killed.yaml');
      await driver.called('nodeUnpublishVolume');
    }
    await killKubelet(child);
    await driver.behave({});
    if (!isDeleted) await kubelet.remove('killed.yaml');
    driver.forget();
    kubelet.handle = await startKubelet(kubelet.options);
    await kubelet.until('everything is removed', () => !isThere(podDirectory(uid!)));
    assert.deepEqual(mountsBelow(kubelet.options.rootDir), []);
    assert.deepEqual(await driver.volumeCalls(), ['nodeUnpublishVolume']);
  });
}
