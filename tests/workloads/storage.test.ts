/** Storage on a standalone node with a Kubernetes API: drivers that need attaching, claim expansion, retained volumes. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { CsiDriverUnderTest } from '../kubelet/csi-driver.fixture.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';
import { CsiSidecars, NodeApi } from './csi-sidecars.fixture.ts';

const DRIVER = 'disk.test';
let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
let driver: CsiDriverUnderTest;
let sidecars: CsiSidecars;
let api: NodeApi;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.213.0/24', { hasApi: true });
  daemon = await place.startDaemon();
  await place.loadImage();
  const rootDir = place.path('root/kubelet');
  driver = new CsiDriverUnderTest({ name: DRIVER, rootDir, data: place.path('input/csi') });
  await driver.start();
  api = new NodeApi(place.path('state/apiserver.sock'));
  sidecars = new CsiSidecars(api, DRIVER);
});
after(async () => {
  await sidecars?.stop();
  await driver?.kill();
  daemon?.child.kill('SIGTERM');
  await place.remove();
  bundle.remove();
});

const claim = (name: string, storageClass?: string) =>
  `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: ${name}}\n` +
  `spec: {accessModes: [ReadWriteOnce]${storageClass ? `, storageClassName: ${storageClass}` : ''}, resources: {requests: {storage: 1Gi}}}\n`;
const pod = (name: string, claimName: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  terminationGracePeriodSeconds: 0\n` +
  `  volumes: [{name: data, persistentVolumeClaim: {claimName: ${claimName}}}]\n` +
  `  containers: [{name: main, image: "${exampleImage}", command: [sh, -c, sleep 10000], volumeMounts: [{name: data, mountPath: /data}]}]\n`;
const claimPath = (name: string) => `/api/v1/namespaces/default/persistentvolumeclaims/${name}`;
const podPath = (name: string) => `/api/v1/namespaces/default/pods/${name}`;
const ATTACHMENTS = '/apis/storage.k8s.io/v1/volumeattachments';

async function isRunning(name: string): Promise<boolean> {
  return (await api.get(podPath(name)))?.status?.phase === 'Running';
}

test('a CSI volume is provisioned and attached before its pod starts, and detached afterwards', async () => {
  const objects =
    `apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: ${DRIVER}}\nspec: {attachRequired: true}\n---\n` +
    `apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: disk}\nprovisioner: ${DRIVER}\nvolumeBindingMode: WaitForFirstConsumer\n`;
  await place.ok('apply', place.file('driver.yaml', objects));
  await place.ok('apply', place.file('csi.yaml', [claim('disk', 'disk'), pod('user', 'disk')].join('---\n')));
  await place.until(async () => (await api.list(ATTACHMENTS)).length === 1);
  assert.equal(await isRunning('user'), false, 'it waits until the volume is attached');
  sidecars.attaches = true;
  await place.until(() => isRunning('user'));
  assert.deepEqual(sidecars.done, ['attach']);
  const [node] = await api.list('/api/v1/nodes');
  assert.deepEqual(node?.status.volumesAttached, [{ name: `kubernetes.io/csi/${DRIVER}^disk`, devicePath: '' }]);
  assert.match(await place.ok('events'), /SuccessfulAttachVolume/);
  await place.ok('delete', 'user');
  await place.until(async () => (await api.list(ATTACHMENTS)).length === 0);
  assert.deepEqual(sidecars.done.slice(0, 2), ['attach', 'detach']);
  const calls = await driver.volumeCalls();
  assert.deepEqual(calls, ['nodeStageVolume', 'nodePublishVolume', 'nodeUnpublishVolume', 'nodeUnstageVolume']);
});

test('a claim of the default class is expanded on demand while its pod is running', async () => {
  await place.ok('apply', place.file('grow.yaml', [claim('grow'), pod('grower', 'grow')].join('---\n')));
  await place.until(() => isRunning('grower'));
  await api.patch(claimPath('grow'), { spec: { resources: { requests: { storage: '3Gi' } } } });
  await place.until(async () => (await api.get(claimPath('grow')))?.status.capacity.storage === '3Gi');
  const volumeName = (await api.get(claimPath('grow')))?.spec.volumeName;
  assert.equal((await api.get(`/api/v1/persistentvolumes/${volumeName}`))?.spec.capacity.storage, '3Gi');
});

test('a volume and a claim in use are protected, and both are removed with their directory after the pod', async () => {
  const { volumeName } = (await api.get(claimPath('grow')))!.spec;
  const volumePath = `/api/v1/persistentvolumes/${volumeName}`;
  await api.call('DELETE', volumePath);
  await api.call('DELETE', claimPath('grow'));
  await place.ok('exec', 'grower', '--', 'touch', '/data/file');
  assert.notEqual((await api.get(claimPath('grow')))?.metadata.deletionTimestamp, undefined);
  assert.notEqual((await api.get(volumePath))?.metadata.deletionTimestamp, undefined);
  await place.ok('delete', 'grower');
  await place.until(
    async () => (await api.get(claimPath('grow'))) === undefined && (await api.get(volumePath)) === undefined,
  );
  assert.equal(existsSync(place.path('root/volumes', volumeName)), false);
});

test('a retained volume and its files stay when the claim is removed', async () => {
  await place.ok('apply', place.file('keep.yaml', [claim('keep'), pod('keeper', 'keep')].join('---\n')));
  await place.until(() => isRunning('keeper'));
  await place.ok('exec', 'keeper', '--', 'touch', '/data/file');
  const { volumeName } = (await api.get(claimPath('keep')))!.spec;
  const volumePath = `/api/v1/persistentvolumes/${volumeName}`;
  await api.patch(volumePath, { spec: { persistentVolumeReclaimPolicy: 'Retain' } });
  await place.until(async () => !(await api.get(volumePath))?.metadata.finalizers?.includes('podwright.dev/directory'));
  await place.ok('delete', 'keeper');
  await api.call('DELETE', claimPath('keep'));
  await place.until(async () => (await api.get(volumePath))?.status.phase === 'Released');
  assert.ok(existsSync(place.path('root/volumes', volumeName, 'file')));
  await api.call('DELETE', volumePath);
  await place.until(async () => (await api.get(volumePath)) === undefined);
});

test('a single-pod claim is refused to a second pod with the reason', async () => {
  const exclusive = claim('one').replace('ReadWriteOnce', 'ReadWriteOncePod');
  await place.ok('apply', place.file('one.yaml', [exclusive, pod('first', 'one')].join('---\n')));
  await place.until(() => isRunning('first'));
  await place.ok('apply', place.file('two.yaml', pod('second', 'one')));
  await place.until(async () => /ReadWriteOncePod access mode already in-use/.test(await place.ok('events')));
  await place.ok('delete', 'first');
  await place.until(() => isRunning('second'));
});
