/** Persistent volumes of a CSI driver: attached, staged and published, with kubelets killed at each step. Requires root. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { VolumeAttachment } from '../../packages/kube-api/src/objects/storage.ts';
import { isThere, mountsBelow } from './csi-driver.fixture.ts';
import { CsiNodeUnderTest, DISK, KEY, pod } from './csi-node.fixture.ts';

test('a volume is staged once, published for each pod, and unstaged after the last', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  const digest = createHash('sha256').update('disk-1').digest('hex');
  const stagingTargetPath = join(node.rootDir, 'plugins/kubernetes.io/csi/disk.test', digest, 'globalmount');
  assert.equal(await node.setUp('1'), node.published('1'));
  const [stage, publish] = (await node.driver.allCalls())
    .filter(({ call }) => call.endsWith('Volume'))
    .map(({ request }) => request);
  const capability = {
    accessType: { case: 'mount', value: { fsType: 'ext4', mountFlags: ['noatime'], volumeMountGroup: '' } },
    accessMode: { mode: 1 },
  };
  const common = { volumeId: 'disk-1', publishContext: { device: '/dev/x' }, volumeContext: { tier: 'fast' } };
  const plain = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (key, one) => (key === '$typeName' ? undefined : one)));
  assert.deepEqual(plain(stage), {
    ...common,
    stagingTargetPath,
    volumeCapability: capability,
    secrets: { password: 'storage-stage' },
  });
  assert.deepEqual(plain(publish), {
    ...common,
    stagingTargetPath,
    targetPath: node.published('1'),
    volumeCapability: capability,
    readonly: false,
    secrets: { password: 'storage-publish' },
  });
  assert.deepEqual(node.reported, [[KEY]], 'before anything is mounted');
  await node.setUp('1');
  assert.deepEqual(await node.volumes.use(node.published('1')), {
    ...{ availableBytes: 60, capacityBytes: 100, usedBytes: 40 },
    ...{ inodesFree: 7, inodes: 10, inodesUsed: 3 },
  });
  await node.setUp('2', { readOnly: true });
  assert.deepEqual(await node.calls(), ['nodeStageVolume', 'nodePublishVolume', 'nodePublishVolume']);
  await node.volumes.tearDown('1');
  assert.deepEqual(await node.calls(), ['nodeUnpublishVolume']);
  assert.deepEqual(node.inUse.names(), [KEY]);
  await node.volumes.tearDown('2');
  assert.deepEqual(await node.calls(), ['nodeUnpublishVolume', 'nodeUnstageVolume']);
  assert.deepEqual(node.inUse.names(), []);
  assert.deepEqual([isThere(stagingTargetPath), isThere(node.published('2'))], [false, false]);
});

test('a volume waits until it is attached', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  const check = async (status: VolumeAttachment['status'], expected: RegExp) => {
    await node.restart(); // resets the backoff
    node.attachment = status;
    assert.match(await node.failure(node.setUp('1')), expected);
  };
  const failed = 'MountVolume.WaitForAttach failed for volume "pv-1" : ';
  const id = 'csi-[0-9a-f]{64}';
  await check(
    undefined,
    new RegExp(
      `^${failed}volume disk-1 has GET error for volume attachment ${id}: volumeattachments.storage.k8s.io "${id}" not found$`,
    ),
  );
  await check({ attached: false }, new RegExp(`^${failed}volume disk-1 is not attached for volume attachment ${id}$`));
  await check({ attached: false, attachError: { message: 'no room' } }, new RegExp(`^${failed}no room$`));
  assert.deepEqual(await node.calls(), []);
  await node.restart();
  node.driverObject = { ...node.driverObject, attachRequired: false };
  await node.setUp('1');
  assert.deepEqual(node.inUse.names(), []);
  await node.volumes.tearDown('1');
});

test('a kubelet that is killed between staging and publishing leaves nothing behind', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  await node.driver.behave({ nodePublishVolume: { hang: true } });
  const stopped = new AbortController();
  const before = node.volumes.setUp(pod('1'), DISK, stopped.signal).catch(() => undefined);
  await node.driver.called('nodePublishVolume');
  await node.restart();
  await node.driver.behave({});
  stopped.abort();
  await before;
  node.driver.forget();
  assert.deepEqual(node.inUse.names(), [KEY], 'it must not be detached');
  await node.volumes.tearDown('1');
  assert.deepEqual(await node.calls(), ['nodeUnpublishVolume', 'nodeUnstageVolume']);
  assert.deepEqual(node.inUse.names(), []);
});

test('a kubelet that is killed between unpublishing and unstaging leaves nothing behind', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  await node.setUp('1');
  await node.driver.behave({ nodeUnstageVolume: { error: 14 } });
  assert.equal(
    await node.failure(node.volumes.tearDown('1')),
    `UnmountDevice failed for volume "${KEY}" : kubernetes.io/csi: attacher.UnmountDevice failed: rpc error: code = Unavailable desc = configured to fail nodeUnstageVolume`,
  );
  assert.deepEqual(node.inUse.names(), [KEY]);
  await node.driver.behave({});
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await node.restart(released);
  const removed = node.volumes.removeUnused();
  release();
  await removed;
  assert.deepEqual(mountsBelow(node.rootDir), []);
  assert.deepEqual(node.inUse.names(), []);
});

const UNFINISHED = 'vol_data.json.0123456789ab.tmp';

test('an incomplete record from a killed kubelet does not block a volume', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  await node.setUp('1');
  const volumes = join(node.rootDir, 'plugins/kubernetes.io/csi');
  const [staged] = readdirSync(join(volumes, 'disk.test'));
  const directories = [dirname(node.published('1')), join(volumes, 'disk.test', staged!)];
  for (const directory of directories) writeFileSync(join(directory, UNFINISHED), '{');
  await node.volumes.tearDown('1');
  assert.deepEqual([...directories.filter(isThere), ...node.inUse.names()], []);
  // directories of a kubelet that was killed before it had completely written a volume's record
  for (const place of [
    `disk.test/${staged}/globalmount`,
    'volumeDevices/pv-1/data',
    'volumeDevices/staging/pv-1',
    'volumeDevices/publish',
  ])
    mkdirSync(join(volumes, place), { recursive: true });
  for (const place of [`disk.test/${staged}`, 'volumeDevices/pv-1/data'])
    writeFileSync(join(volumes, place, UNFINISHED), '{');
  await node.restart();
  const left = readdirSync(volumes, { recursive: true }).map(String);
  assert.deepEqual(left.sort(), ['disk.test', 'volumeDevices']);
});

test('a volume that a pod never received is not in use after its removal, even if another volume cannot be removed at once', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  await node.setUp('1');
  node.attachment = { attached: false };
  await node.failure(node.setUp('1', { name: 'pv-2', handle: 'disk-2' }));
  assert.deepEqual(node.inUse.names(), [KEY, KEY.replace('disk-1', 'disk-2')]);
  await node.driver.behave({ nodeUnstageVolume: { error: 14 } });
  assert.match(await node.failure(node.volumes.tearDown('1')), /configured to fail nodeUnstageVolume$/);
  assert.deepEqual(node.inUse.names(), [KEY]);
  await node.driver.behave({});
  node.volumes.driverRegistered('disk.test'); // without the pause between tries
  await node.volumes.tearDown('1');
  assert.deepEqual(node.inUse.names(), []);
});

test('a restarted kubelet takes over a volume, regardless of what its driver does', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  await node.setUp('1');
  await node.restart();
  await node.driver.behave({ nodePublishVolume: { error: 13 } });
  assert.match(
    await node.failure(node.setUp('1')),
    /^MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal/,
  );
  assert.equal(await node.volumes.existingPath(pod('1'), DISK), node.published('1'));
  await node.driver.behave({});
  await node.volumes.tearDown('1');
  assert.equal(await node.volumes.existingPath(pod('1'), DISK), undefined);
});

test('driver calls are retried with back-off, which is reset when the driver registers', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  await node.driver.behave({ nodeStageVolume: { error: 3 } });
  const failure = await node.failure(node.setUp('1'));
  assert.equal(
    failure,
    'MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = InvalidArgument desc = configured to fail nodeStageVolume',
  );
  assert.equal(await node.failure(node.setUp('1')), failure);
  assert.deepEqual(await node.calls(), ['nodeStageVolume']);
  assert.equal(isThere(join(node.rootDir, 'plugins/kubernetes.io/csi/disk.test')), true);
  node.volumes.driverRegistered('disk.test');
  await node.driver.behave({});
  await node.setUp('1');
  await node.volumes.tearDown('1');
});

test('a volume staged with a different SELinux label is staged again', async (context) => {
  const node = new CsiNodeUnderTest();
  node.seLinux = { fileLabel: ({ level }) => level };
  node.driverObject = { ...node.driverObject, seLinuxMount: true };
  await node.start(context);
  const labelled = (level: string) => ({ accessModes: ['ReadWriteOncePod'], labels: [{ level }] });
  await node.setUp('1', labelled('s0:c1'));
  await node.driver.behave({ nodeUnstageVolume: { error: 14 } });
  assert.match(await node.failure(node.volumes.tearDown('1')), /UnmountDevice failed/);
  await node.driver.behave({});
  await node.calls();
  await node.setUp('2', labelled('s0:c2'));
  await node.setUp('2', labelled('s0:c2'));
  assert.deepEqual(await node.calls(), ['nodeUnstageVolume', 'nodeStageVolume', 'nodePublishVolume']);
  node.volumes.driverRegistered('disk.test'); // without the pause between tries
  await node.volumes.tearDown('2');
});

test('a driver with tokenRequests and requiresRepublish gets tokens and repeated calls', async (context) => {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  node.driverObject = {
    ...node.driverObject,
    attachRequired: false,
    podInfoOnMount: true,
    requiresRepublish: true,
    tokenRequests: [{ audience: 'vault' }],
  };
  await node.setUp('1');
  await node.setUp('1');
  const publish = (await node.driver.allCalls()).findLast(({ call }) => call === 'nodePublishVolume')!.request;
  assert.deepEqual(publish.volumeContext, {
    tier: 'fast',
    'csi.storage.k8s.io/pod.name': 'pod-1',
    'csi.storage.k8s.io/pod.namespace': 'default',
    'csi.storage.k8s.io/pod.uid': '1',
    'csi.storage.k8s.io/serviceAccount.name': 'robot',
    'csi.storage.k8s.io/ephemeral': 'false',
    'csi.storage.k8s.io/serviceAccount.tokens':
      '{"vault":{"token":"for vault","expirationTimestamp":"2026-01-01T00:00:00Z"}}',
  });
  assert.deepEqual(await node.calls(), ['nodeStageVolume', 'nodePublishVolume', 'nodePublishVolume']);
  await node.volumes.tearDown('1');
});
