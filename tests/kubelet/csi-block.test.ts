/** Block volumes of a CSI driver with real loop devices, and kubelets killed at each step. Requires root. */
import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { metricsText, silentLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { CsiPlugin } from '../../packages/volumes/src/csi/csi-plugin.ts';
import { ProgramLoopDevices } from '../../packages/volumes/src/volumes/loop-devices.ts';
import { ProgramMounter } from '../../packages/volumes/src/volumes/mounter.ts';
import type { VolumePlugin } from '../../packages/volumes/src/volumes/plugin.ts';
import { PodDirectories } from '../../packages/volumes/src/volumes/pod-directories.ts';
import { VolumeManager } from '../../packages/volumes/src/volumes/volume-manager.ts';
import { loopsBelow, mountsBelow } from './csi-driver.fixture.ts';
import { CsiNodeUnderTest, DISK, KEY, never, pod } from './csi-node.fixture.ts';

const ALL_CALLS = ['nodeStageVolume', 'nodePublishVolume', 'nodeUnpublishVolume', 'nodeUnstageVolume'];

async function started(context: TestContext): Promise<CsiNodeUnderTest> {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  return node;
}

/** Returns the paths that belong to the block volume `pv-1` of a pod. */
function places({ rootDir }: CsiNodeUnderTest, uid: string) {
  const root = join(rootDir, 'plugins/kubernetes.io/csi/volumeDevices');
  return {
    root,
    link: join(rootDir, 'pods', uid, 'volumeDevices/kubernetes.io~csi/pv-1'),
    staging: join(root, 'staging/pv-1'),
    target: join(root, 'publish/pv-1', uid),
    bound: join(root, 'pv-1/dev', uid),
    data: join(root, 'pv-1/data/vol_data.json'),
  };
}

/** Asserts that no mounts, loop devices or files are left of the block volume. */
async function isClean(node: CsiNodeUnderTest, uid = '1'): Promise<void> {
  assert.deepEqual([...mountsBelow(node.rootDir), ...loopsBelow(node.rootDir)], []);
  assert.equal(existsSync(places(node, uid).link), false);
  const { root } = places(node, uid);
  assert.deepEqual(existsSync(root) ? readdirSync(root) : [], []);
  assert.deepEqual(node.inUse.names(), []);
}

test('a device is staged and published as a block volume, bound, linked and held open', async (context) => {
  const node = await started(context);
  const { link, staging, target, bound, data, root } = places(node, '1');
  assert.equal(await node.map('1'), link);
  const requests = (await node.driver.allCalls()).filter(({ call }) => call.endsWith('Volume'));
  const [stage, publish] = requests.map(({ request }) => JSON.parse(JSON.stringify(request)));
  for (const request of [stage, publish]) {
    assert.equal(request.volumeCapability.accessType.case, 'block');
    assert.deepEqual(request.publishContext, { device: '/dev/x' });
    assert.equal(request.stagingTargetPath, staging);
  }
  assert.equal(publish.targetPath, target);
  assert.equal(readlinkSync(link), target);
  assert.equal(lstatSync(bound).isBlockDevice(), true);
  assert.equal(lstatSync(bound).rdev, lstatSync(target).rdev);
  assert.deepEqual(mountsBelow(root).sort(), [bound, target].sort());
  assert.equal(loopsBelow(bound.slice(0, -2)).length, 1, 'the device is held open');
  assert.equal(existsSync(data), true);
  const what = 'MapVolume.MapPodDevice succeeded for volume "pv-1"';
  assert.deepEqual(node.events, [
    { kind: 'Pod', reason: 'SuccessfulMountVolume', message: `${what} globalMapPath "${join(root, 'pv-1/dev')}"` },
    {
      kind: 'Pod',
      reason: 'SuccessfulMountVolume',
      message: `${what} volumeMapPath "${join(node.rootDir, 'pods/1/volumeDevices/kubernetes.io~csi')}"`,
    },
  ]);
  await node.map('1');
  await node.map('2');
  assert.deepEqual(await node.calls(), ['nodeStageVolume', 'nodePublishVolume', 'nodePublishVolume']);
  assert.deepEqual(await node.blockVolumes.use(link), {
    ...{ availableBytes: 60, capacityBytes: 100, usedBytes: 40 },
    ...{ inodesFree: 7, inodes: 10, inodesUsed: 3 },
  });
  const stats = (await node.driver.allCalls()).find(({ call }) => call === 'nodeGetVolumeStats');
  assert.equal(stats?.request.volumePath, bound);
  await node.blockVolumes.tearDown('1');
  assert.deepEqual(node.inUse.names(), [KEY]);
  await node.blockVolumes.tearDown('2');
  assert.deepEqual((await node.calls()).slice(-3), ['nodeUnpublishVolume', 'nodeUnpublishVolume', 'nodeUnstageVolume']);
  await isClean(node);
  const text = await metricsText(node.registry, () => true);
  for (const name of ['unmap_volume', 'unmap_device'])
    assert.match(
      text,
      new RegExp(`volume_plugin="kubernetes.io/csi:disk.test",operation_name="${name}",status="success"`),
    );
  assert.match(
    text,
    /csi_operations_seconds_count\{driver_name="disk.test",method_name="\/csi.v1.Node\/NodePublishVolume",grpc_status_code="OK",migrated="false"\} 2/,
  );
});

test('failures are reported with upstream’s messages, and leave nothing behind', async (context) => {
  const node = await started(context);
  const check = async (call: string, expected: string) => {
    await node.driver.behave({ [call]: { error: 13 } });
    assert.equal(
      await node.failure(node.map('1')),
      `${expected} rpc error: code = Internal desc = configured to fail ${call}`,
    );
    await node.driver.behave({});
  };
  await check('nodeStageVolume', 'MapVolume.SetUpDevice failed for volume "pv-1" :');
  assert.equal(existsSync(places(node, '1').link), false);
  assert.deepEqual(readdirSync(places(node, '1').root), []);
  await node.blockVolumes.tearDown('1');
  await isClean(node);
  await check('nodePublishVolume', 'MapVolume.MapPodDevice failed for volume "pv-1" :');
  await node.blockVolumes.tearDown('1');
  await isClean(node);
  const only = { accessModes: ['ReadWriteOncePod'] };
  await node.map('1', only);
  assert.equal(
    await node.failure(node.map('2', only)),
    'MapVolume.SetUpDevice failed for volume "pv-1" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  );
  await node.driver.behave({ nodeUnpublishVolume: { error: 14 } });
  assert.equal(
    await node.failure(node.blockVolumes.tearDown('1')),
    'UnmapVolume.UnmapPodDevice failed for volume "pv-1" : kubernetes.io/csi: blockMapper.unpublishVolumeForBlock failed: rpc error: code = Unavailable desc = configured to fail nodeUnpublishVolume',
  );
  await node.driver.behave({});
  node.blockVolumes.driverRegistered('disk.test'); // resets the backoff
  await node.blockVolumes.tearDown('1');
  await node.blockVolumes.tearDown('2');
  await isClean(node);
});

const NEVER_GOT: Record<string, (node: CsiNodeUnderTest) => Promise<void>> = {
  'whose driver refuses it': (node) => node.driver.behave({ nodePublishVolume: { error: 13 } }),
  'that is not attached': async (node) => {
    node.attachment = { attached: false };
  },
};

for (const [what, spoil] of Object.entries(NEVER_GOT))
  test(`a pod that never got a block volume ${what} releases the volume`, async (context) => {
    const node = await started(context);
    await spoil(node);
    const claims: VolumePlugin = {
      name: 'kubernetes.io/local-volume',
      supports: (volume) => volume.persistentVolumeClaim !== undefined,
      setUp: (request, signal) => node.blockVolumes.setUp(request.pod, { ...DISK, isBlock: true }, signal),
    };
    const manager = new VolumeManager({
      directories: new PodDirectories(node.rootDir),
      plugins: [new CsiPlugin(node.volumes, node.blockVolumes), claims],
      ...{ mounter: node.mounter, logger: silentLogger },
    });
    const { metadata } = pod('1');
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const containers = [{ volumeDevices: [{ name: 'data', devicePath: '/dev/data' }] }];
    const mounted = await manager.mountForPod({ metadata, spec: { volumes, containers } } as Pod, never);
    assert.equal(mounted.failures.length, 1);
    assert.deepEqual(node.inUse.names(), [KEY]);
    const wasStaged = (await node.driver.volumeCalls()).includes('nodeStageVolume');
    await manager.unmountForPod('1');
    assert.equal((await node.calls()).includes('nodeUnstageVolume'), wasStaged);
    await isClean(node);
    assert.equal(existsSync(join(node.rootDir, 'pods/1/volumeDevices')), false);
    await manager.close();
  });

/** Never resolves, like a call that was pending when its kubelet was killed. */
const forever = new Promise<never>(() => undefined);
const STEPS: Record<string, (node: CsiNodeUnderTest, reached: () => void) => void> = {
  bound: (node, reached) => {
    const mounter = new ProgramMounter();
    node.mounter = Object.assign(Object.create(mounter), {
      bindMount: async (source: string, target: string) => {
        await mounter.bindMount(source, target);
        reached();
        return forever;
      },
    });
  },
  held: (node, reached) => {
    const loops = new ProgramLoopDevices();
    const attach = async (path: string) => {
      await loops.attach(path);
      reached();
      return forever;
    };
    node.loops = { attach, detach: (path) => loops.detach(path) };
  },
  released: (node, reached) => {
    const loops = new ProgramLoopDevices();
    const detach = async (path: string) => {
      await loops.detach(path);
      reached();
      return forever;
    };
    node.loops = { attach: (path) => loops.attach(path), detach };
  },
};

for (const [step, kill] of Object.entries(STEPS))
  test(`a kubelet that is killed once a device is ${step} leaves nothing behind and uses no second device`, async (context) => {
    const node = await started(context);
    const { promise, resolve } = Promise.withResolvers<void>();
    kill(node, resolve);
    await node.restart();
    const lost = step === 'released' ? node.map('1').then(() => node.blockVolumes.tearDown('1')) : node.map('1');
    lost.catch(() => undefined);
    await promise;
    node.mounter = new ProgramMounter();
    node.loops = new ProgramLoopDevices();
    await node.restart();
    assert.deepEqual(node.inUse.names(), [KEY], 'it must not be detached');
    if (step !== 'released') {
      await node.map('1');
      const { root, bound, target } = places(node, '1');
      assert.deepEqual(mountsBelow(root).sort(), [bound, target].sort(), 'nothing twice');
      assert.equal(loopsBelow(node.rootDir).length, 2, 'the driver’s and the kubelet’s');
      await node.restart();
    }
    await node.blockVolumes.tearDown('1');
    await isClean(node);
  });

/** CSI calls during which the kubelet is killed, before or after the driver has done the work. */
const MOMENTS = ALL_CALLS.flatMap((call) => (['hang', 'hangAfter'] as const).map((how) => ({ call, how })));

for (const isBlock of [false, true])
  test(`a kubelet that is killed in a call of the driver leaves nothing of a ${isBlock ? 'block ' : ''}volume behind`, async (context) => {
    const node = await started(context);
    const rooms = () => (isBlock ? node.blockVolumes : node.volumes);
    for (const { call, how } of MOMENTS) {
      const stopped = new AbortController();
      const setUp = () => rooms().setUp(pod('1'), { ...DISK, isBlock }, stopped.signal);
      const isEnd = call.startsWith('nodeUn');
      if (isEnd) await setUp();
      await node.calls();
      await node.driver.behave({ [call]: { [how]: true } });
      const lost = isEnd ? rooms().tearDown('1') : setUp();
      lost.catch(() => undefined);
      await node.driver.called(call);
      await node.driver.allCalls();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await node.restart(released);
      await node.driver.behave({});
      assert.deepEqual(node.inUse.names(), [KEY], `${call}: it must not be detached`);
      stopped.abort();
      release();
      await rooms().tearDown('1');
      await rooms().removeUnused();
      await isClean(node);
    }
  });
