import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PersistentVolume, Pod } from '@podwright/kube-api';
import { DeviceMaps } from './device-maps.ts';
import { LocalBlockVolumes } from './local-block-volumes.ts';
import type { Mounter, MountRequest } from './mounter.ts';
import { persistentVolumeKinds } from './persistent-volume-kinds.ts';
import { PersistentVolumesPlugin } from './persistent-volumes.ts';
import { PodDirectories } from './pod-directories.ts';

const NO_LOOPS = { attach: async () => '/dev/loop0', detach: async () => undefined };

/** A plugin for a single PersistentVolume of a cluster, and the mounts that it requests. */
async function setUp(
  context: TestContext,
  spec: PersistentVolume['spec'],
  { fits = true, refusal }: { fits?: boolean; refusal?: Error } = {},
) {
  const root = await mkdtemp(join(tmpdir(), 'podwright-pv-'));
  context.after(() => rm(root, { recursive: true }));
  const mounts: MountRequest[] = [];
  const mounter = {
    isMountPoint: async (path: string) => mounts.some(({ target }) => target === path),
    mountsOf: async (source: string) => mounts.filter((mount) => mount.source === source).map(({ target }) => target),
    bindMount: async (source: string, target: string) =>
      void mounts.push({ type: 'none', source, target, options: ['bind'] }),
    mount: async (request: MountRequest) => void mounts.push(request),
  } as unknown as Mounter;
  const directories = new PodDirectories(root);
  const maps = new DeviceMaps({ mounter, loops: NO_LOOPS, events: { event: () => undefined } });
  const plugin = new PersistentVolumesPlugin({
    kinds: persistentVolumeKinds(mounter, new LocalBlockVolumes({ maps, directories, rootDir: root })),
    unmapDevices: async () => undefined,
    directories,
    volumeOf: async () => {
      if (refusal !== undefined) throw refusal;
      const volume = { metadata: { name: 'pv1', namespace: '', uid: '' }, spec };
      return { volume, claim: { metadata: { name: 'claim', namespace: 'shop', uid: '' }, spec: {} } };
    },
    fitsNode: () => fits,
    ofManifests: { name: 'kubernetes.io/local-volume', supports: () => true, setUp: async () => '/of/a/manifest' },
  });
  const mount = (
    fields: { uid?: string; source?: string; readOnly?: boolean; fsGroup?: number; isDevice?: boolean } = {},
  ) => {
    const { uid = 'u1', source = 'api', readOnly, fsGroup, isDevice = false } = fields;
    const annotations = { 'kubernetes.io/config.source': source };
    const pod = {
      metadata: { name: 'db', namespace: 'shop', uid, annotations },
      spec: {
        containers: [
          isDevice ? { volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] } : { volumeMounts: [{ name: 'data' }] },
        ],
        securityContext: { fsGroup },
      },
    } as unknown as Pod;
    const volume = { name: 'data', persistentVolumeClaim: { claimName: 'claim', readOnly } };
    const directory = directories.volume(uid, plugin.name, 'data');
    return plugin.setUp({ pod, volume, directory }, new AbortController().signal);
  };
  return { root, directories, mounts, mount };
}

test('a local volume is bind-mounted in the pod’s directory, and gets the fsGroup of its first pod', async (context) => {
  const { root, directories, mounts, mount } = await setUp(context, { local: { path: '' } });
  await assert.rejects(mount(), /MountVolume.SetUp failed for volume "pv1" : LocalVolume volume "pv1" path is empty/);
  const path = join(root, 'disk');
  const again = await setUp(context, { local: { path } });
  await mkdir(path, { mode: 0o755 });
  const target = await again.mount({ fsGroup: 2000 });
  assert.equal(target, again.directories.volume('u1', 'kubernetes.io/local-volume', 'pv1'));
  assert.deepEqual(again.mounts, [{ type: 'none', source: path, target, options: ['bind'] }]);
  assert.equal(await again.mount({ fsGroup: 2000 }), target);
  await again.mount({ uid: 'u2', fsGroup: 3000 });
  assert.equal(again.mounts.length, 2);
  assert.equal((await stat(path)).gid, 2000);
  assert.deepEqual([mounts, directories.root], [[], join(root, 'pods')]);
});

test('a second pod is refused a ReadWriteOncePod local volume', async (context) => {
  const path = await mkdtemp(join(tmpdir(), 'podwright-disk-'));
  context.after(() => rm(path, { recursive: true }));
  const { mount, mounts } = await setUp(context, { local: { path }, accessModes: ['ReadWriteOncePod'] });
  mounts.push({ type: 'none', source: path, target: '/mnt/of-the-host', options: [] });
  for (let times = 0; times < 2; times++) await mount();
  await assert.rejects(mount({ uid: 'u2' }), {
    message:
      'MountVolume.SetUp failed for volume "pv1" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  });
});

test('a local volume that is missing or not a directory is an error with upstream’s message', async (context) => {
  const check = async (path: string, expected: RegExp) => {
    const { mount, mounts } = await setUp(context, { local: { path } });
    await assert.rejects(mount(), expected);
    assert.deepEqual(mounts, []);
  };
  const notMade = 'MountVolume.NewMounter initialization failed for volume "pv1" :';
  await check('/not/there', new RegExp(`${notMade} path "/not/there" does not exist`));
  await check('/etc/hostname', new RegExp(`${notMade} only directory and block device are supported`));
  await check('/tmp/../etc', /MountVolume.SetUp failed for volume "pv1" : invalid path: \/tmp\/..\/etc/);
});

test('errors name unbound claims, block volumes, unsupported types and other nodes', async (context) => {
  const check = async (
    spec: PersistentVolume['spec'],
    expected: string,
    { isDevice, ...how }: { fits?: boolean; refusal?: Error; isDevice?: boolean } = {},
  ) => {
    const { mount } = await setUp(context, spec, how);
    await assert.rejects(mount({ isDevice }), { message: expected });
  };
  const unprocessed =
    'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]:';
  const refusal = new Error('error processing PVC shop/claim: PVC is not bound');
  await check({}, `${unprocessed} error processing PVC shop/claim: PVC is not bound`, { refusal });
  await check(
    { local: { path: '/tmp' }, volumeMode: 'Block' },
    `${unprocessed} volume data has volumeMode Block, but is specified in volumeMounts`,
  );
  await check(
    { local: { path: '/dev' } },
    `${unprocessed} volume data has volumeMode Filesystem, but is specified in volumeDevices`,
    { isDevice: true },
  );
  await check(
    { nfs: { server: 'a', path: '/b' }, volumeMode: 'Block' },
    `${unprocessed} volumes of the plugin kubernetes.io/nfs are no block devices: use one of csi or local`,
    { isDevice: true },
  );
  await check(
    { local: { path: '/tmp' }, volumeMode: 'Block' },
    'MapVolume.EvalHostSymlinks failed for volume "pv1" : /tmp is not a block device',
    { isDevice: true },
  );
  await check(
    { local: { path: '/tmp' } },
    'MountVolume.NodeAffinity check failed for volume "pv1" : no matching NodeSelectorTerms',
    { fits: false },
  );
  const fc = { fc: {} } as PersistentVolume['spec'];
  await check(
    fc,
    `${unprocessed} no volume plugin matched: this node mounts volumes of the kinds csi, local, hostPath and nfs`,
  );
});

test('hostPath volumes are checked, and static pods use the node’s own claims', async (context) => {
  const { root, mount } = await setUp(context, { hostPath: { path: '/etc', type: 'Directory' } });
  assert.equal(await mount(), '/etc');
  assert.equal(await mount({ source: 'file' }), '/of/a/manifest');
  const wrong = await setUp(context, { hostPath: { path: join(root, 'none'), type: 'Directory' } });
  await assert.rejects(wrong.mount(), /MountVolume.SetUp failed for volume "pv1" : hostPath type check failed/);
});
