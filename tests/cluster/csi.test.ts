/** Pods in a cluster that use PersistentVolumes of a CSI driver, on Podwright's runtime. Requires root. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKubeClient, readKubeconfig } from '@podwright/kube-client';
import { listAt, valueAt } from '@podwright/kube-kinds';
import { CsiDriverUnderTest, isThere, loopsBelow, mountsBelow } from '../kubelet/csi-driver.fixture.ts';
import { type RealKubelet, startRealKubelet } from '../kubelet/real-kubelet.fixture.ts';
import { type SuiteRuntime, startOurRuntime } from '../kubelet/suite-runtime.fixture.ts';
import { type ApiObject, type Cluster, pathOf, startCluster } from './cluster.fixture.ts';
import { CsiClaims } from './csi-claims.fixture.ts';

const NODE = 'csi-node';
const DRIVER = 'disk.test';
let runtime: SuiteRuntime;
let cluster: Cluster;
let kubelet: RealKubelet;
let driver: CsiDriverUnderTest;
let claims: CsiClaims;
before(async () => {
  cluster = await startCluster();
  claims = new CsiClaims(cluster, { driver: DRIVER, node: NODE });
  runtime = await startOurRuntime('cc');
  const file = join(runtime.scratch, 'kubeconfig');
  writeFileSync(file, cluster.kubeconfig(cluster.nodeCredential(NODE)));
  const client = createKubeClient(await readKubeconfig(file));
  await claims.register();
  kubelet = await startRealKubelet(runtime, {
    nodeName: NODE,
    cluster: { client, heartbeatClient: client, eventClient: client },
  });
  const { rootDir } = kubelet.options;
  driver = new CsiDriverUnderTest({ name: DRIVER, rootDir, data: join(rootDir, '..', 'data') });
  await driver.start();
});
after(async () => {
  const started = kubelet as RealKubelet | undefined; // undefined if it failed to start
  await started?.until('no pod is left', () => kubelet.handle.pods().length === 0);
  await started?.close();
  await (driver as CsiDriverUnderTest | undefined)?.kill();
  await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  await (runtime as SuiteRuntime | undefined)?.stop();
});

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } };
const csiNode = { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: NODE } };
const named = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } });
const isReady = (pod: ApiObject) =>
  listAt(pod, 'status', 'conditions').some(
    (one) => valueAt(one, 'type') === 'Ready' && valueAt(one, 'status') === 'True',
  );
const inUse = (object: ApiObject) => (listAt(object, 'status', 'volumesInUse') as unknown[]).join();

const FILES = {
  command: ['sh', '-c', 'stat -c %g /data > /data/file; sleep 3600'],
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
};
const DEVICE = {
  command: ['sh', '-c', 'echo marked | dd of=/dev/data conv=notrunc,fsync; sleep 3600'],
  volumeDevices: [{ name: 'data', devicePath: '/dev/data' }],
};

async function create(name: string, source: object, use: object = FILES): Promise<ApiObject> {
  const pod = {
    ...named(name),
    spec: {
      ...{ nodeName: NODE, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
      securityContext: { fsGroup: 4321 },
      volumes: [{ name: 'data', ...source }],
      containers: [
        {
          ...{ name: 'main', image: runtime.image, imagePullPolicy: 'Never' },
          ...use,
        },
      ],
    },
  };
  return (await cluster.apply(pod as unknown as ApiObject))[0]!;
}

async function deletePod(name: string): Promise<void> {
  await cluster.delete(named(name));
  await cluster.untilGone(named(name));
  await cluster.until(node, (object) => inUse(object) === '');
  assert.deepEqual(mountsBelow(kubelet.options.rootDir), []);
}

test('the node publishes its drivers', async () => {
  const { spec } = await cluster.until(csiNode, (object) => listAt(object, 'spec', 'drivers').length > 0);
  assert.deepEqual(spec?.drivers, [
    { name: DRIVER, nodeID: `${DRIVER}-node`, topologyKeys: [`${DRIVER}/zone`], allocatable: { count: 9 } },
  ]);
  const { metadata } = (await cluster.find(node))!;
  assert.equal(metadata.annotations?.['csi.volume.kubernetes.io/nodeid'], `{"${DRIVER}":"${DRIVER}-node"}`);
  assert.equal(metadata.labels?.[`${DRIVER}/zone`], 'a');
});

test('a pod has its claim’s volume once attached, and the node reports it as in use before that', async () => {
  await claims.bound('disk');
  await create('claims', { persistentVolumeClaim: { claimName: 'disk' } });
  await cluster.until(node, (object) => inUse(object) === `kubernetes.io/csi/${DRIVER}^disk`);
  assert.deepEqual(await driver.volumeCalls(), [], 'nothing is mounted before it is attached');
  await claims.attach('disk');
  await cluster.until(named('claims'), isReady);
  const file = join(driver.data, 'disk/file');
  await kubelet.until('it is the fsGroup’s', () => isThere(file) && readFileSync(file, 'utf8') === '4321\n');
  const stage = (await driver.allCalls()).find(({ call }) => call === 'nodeStageVolume')!.request;
  assert.deepEqual([stage.volumeId, stage.publishContext], ['disk', { device: '/dev/disk' }]);
  await deletePod('claims');
  assert.deepEqual(await driver.volumeCalls(), [
    'nodeStageVolume',
    'nodePublishVolume',
    'nodeUnpublishVolume',
    'nodeUnstageVolume',
  ]);
});

test('a pod has its own claim for an ephemeral volume, not one of another pod', async () => {
  const template = {
    ephemeral: {
      volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    },
  };
  await claims.bound('strange-data');
  await create('strange', template);
  const isReported = () =>
    kubelet.handle
      .events()
      .some(({ message }) => message?.includes('was not created for pod default/strange (pod is not owner)'));
  await kubelet.until('the foreign claim is reported', isReported);
  await cluster.delete(named('strange'));
  await claims.bound('owned-data', { owner: await create('owned', template) });
  await claims.attach('owned-data');
  await cluster.until(named('owned'), isReady);
  await kubelet.until('it is written', () => isThere(join(driver.data, 'owned-data/file')));
  await deletePod('owned');
});

/** Expands a volume the way a resizer does, leaving the file system to the node. Changing the pod makes the node check immediately. */
async function grow(claim: string, pod: string): Promise<void> {
  const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `pv-${claim}` } } as ApiObject;
  const sizes = { capacity: { storage: '2Gi' } };
  const answer = await cluster.admin.patch(pathOf(volume), 'merge', { spec: sizes });
  assert.ok(answer.status < 300, answer.text);
  await claims.setStatus(claimNamed(claim), {
    allocatedResources: { storage: '2Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
    conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
  });
  // the kubelet waits at least a second before it rereads a claim
  for (const at of ['1', '2']) {
    await sleep(1100);
    await cluster.admin.patch(pathOf(named(pod)), 'merge', { metadata: { annotations: { at } } });
  }
}

const claimNamed = (name: string) =>
  ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, namespace: 'default' } }) as ApiObject;
const hasGrown = (claim: ApiObject) => valueAt(claim, 'status', 'capacity', 'storage') === '2Gi';

test('a pod has its claim’s block device, which can grow while in use', async () => {
  await claims.bound('raw', { volumeMode: 'Block' });
  await claims.attach('raw');
  driver.forget();
  await create('device', { persistentVolumeClaim: { claimName: 'raw' } }, DEVICE);
  await cluster.until(named('device'), isReady);
  const image = join(driver.data, 'raw.img');
  await kubelet.until('the pod has written', () => readFileSync(image, 'latin1').startsWith('marked'));
  await grow('raw', 'device');
  const { status } = await cluster.until(claimNamed('raw'), hasGrown);
  assert.deepEqual([status?.allocatedResourceStatuses, status?.conditions], [undefined, undefined]);
  assert.equal(statSync(image).size, 2 ** 31);
  const resized = kubelet.handle.events().filter(({ reason }) => reason === 'FileSystemResizeSuccessful');
  const message = `MountVolume.NodeExpandVolume succeeded for volume "pv-raw" ${NODE}`;
  assert.deepEqual(
    resized.map((event) => [event.involvedObject.kind, event.involvedObject.name, event.message]),
    [
      ['Pod', 'device', message],
      ['PersistentVolumeClaim', 'raw', message],
    ],
  );
  await deletePod('device');
  assert.deepEqual(await driver.volumeCalls(), [
    ...['nodeStageVolume', 'nodePublishVolume', 'nodeExpandVolume'],
    ...['nodeUnpublishVolume', 'nodeUnstageVolume'],
  ]);
  assert.deepEqual(loopsBelow(driver.data), []);
});
