/** Volumes with real mounts. Requires root. */
import assert from 'node:assert/strict';
import {
  access,
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { LocalObjects } from '../../packages/kube-api/src/objects/local-objects.ts';
import type { LocalObject, Pod, Volume } from '../../packages/kube-api/src/objects/types.ts';
import { builtinVolumePlugins } from '../../packages/volumes/src/volumes/builtin-plugins.ts';
import { ClaimVolumes } from '../../packages/volumes/src/volumes/claims.ts';
import { ProgramMounter } from '../../packages/volumes/src/volumes/mounter.ts';
import { NfsPlugin } from '../../packages/volumes/src/volumes/nfs.ts';
import { PodDirectories } from '../../packages/volumes/src/volumes/pod-directories.ts';
import { VolumeManager } from '../../packages/volumes/src/volumes/volume-manager.ts';

const TMPFS_MAGIC = 0x01021994;
const signal = new AbortController().signal;
const metadata = (name: string) => ({ name, namespace: 'default', uid: name });
const configMap = (text: string): LocalObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadata('c'),
  data: { page: text },
});
const secret: LocalObject = { apiVersion: 'v1', kind: 'Secret', metadata: metadata('s'), data: { key: 'czNjcmV0' } };

async function setUp(context: TestContext) {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-volumes-'));
  const objects = new LocalObjects();
  objects.replace([configMap('hello'), secret]);
  const mounter = new ProgramMounter();
  const directories = new PodDirectories(join(scratch, 'root'));
  const nodeAllocatable = { cpuMillis: 1n, memoryBytes: 1n << 30n, ephemeralStorageBytes: 1n };
  const claims = new ClaimVolumes(join(scratch, 'root'), silentLogger);
  const newManager = () =>
    new VolumeManager({
      directories,
      mounter,
      logger: silentLogger,
      plugins: builtinVolumePlugins({ mounter, objects, nodeAllocatable, claims }),
    });
  const manager = newManager();
  context.after(async () => {
    await manager.removeOrphans(() => false);
    assert.deepEqual(await mounter.mountsBelow(scratch), []);
    await rm(scratch, { recursive: true });
  });
  return { scratch, objects, mounter, directories, manager, newManager, claims };
}

const podWith = (volumes: Volume[], spec: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata('p'),
  spec: {
    containers: [{ name: 'a', image: 'i', volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) }],
    volumes,
    ...spec,
  },
});

const subPathRequest = (volumePath: string, subPath: string) => ({
  podUid: 'p',
  containerName: 'a',
  volumeName: 'data',
  volumePath,
  subPath,
  index: 0,
});

test('an emptyDir is writable for all users, persists across a restart, and is removed with the pod', async (context) => {
  const { manager, newManager, directories } = await setUp(context);
  const pod = podWith([{ name: 'data', emptyDir: {} }]);
  const path = (await manager.mountForPod(pod, signal)).paths.get('data')!;
  assert.equal(path, join(directories.pod('p'), 'volumes/kubernetes.io~empty-dir/data'));
  assert.equal((await stat(path)).mode & 0o7777, 0o777);
  await writeFile(join(path, 'file'), 'x');
  await chmod(path, 0o700);
  const again = newManager();
  await again.mountForPod(pod, signal);
  assert.equal(await readFile(join(path, 'file'), 'utf8'), 'x');
  assert.equal((await stat(path)).mode & 0o7777, 0o700, 'changes of a container stay');
  await again.unmountForPod('p');
  await assert.rejects(access(path));
  assert.deepEqual([...again.pathsOf('p')], []);
});

test('an in-memory emptyDir is a tmpfs with its size, mounted once', async (context) => {
  const { manager, newManager, mounter, directories } = await setUp(context);
  const pod = podWith([{ name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }]);
  const path = (await manager.mountForPod(pod, signal)).paths.get('data')!;
  await newManager().mountForPod(pod, signal);
  const { type, blocks, bsize } = await statfs(path);
  assert.deepEqual([type, blocks * bsize], [TMPFS_MAGIC, 1 << 20]);
  assert.equal((await mounter.mountsBelow(directories.pod('p'))).length, 1);
  await manager.unmountForPod('p');
  assert.deepEqual(await mounter.mountsBelow(directories.pod('p')), []);
});

test('a Secret is stored only in memory, and a ConfigMap follows changes to its object', async (context) => {
  const { manager, objects } = await setUp(context);
  const pod = podWith([
    { name: 'secret', secret: { secretName: 's', defaultMode: 0o400 } },
    { name: 'conf', configMap: { name: 'c' } },
  ]);
  const { paths } = await manager.mountForPod(pod, signal);
  assert.equal((await statfs(paths.get('secret')!)).type, TMPFS_MAGIC);
  assert.equal(await readFile(join(paths.get('secret')!, 'key'), 'utf8'), 's3cret');
  assert.equal((await stat(join(paths.get('secret')!, 'key'))).mode & 0o777, 0o400);
  assert.equal(await readFile(join(paths.get('conf')!, 'page'), 'utf8'), 'hello');
  objects.replace([configMap('changed'), secret]);
  await manager.mountForPod(pod, signal);
  assert.equal(await readFile(join(paths.get('conf')!, 'page'), 'utf8'), 'changed');
});

test('all unavailable volumes are reported, and the next attempt succeeds', async (context) => {
  const { manager, objects } = await setUp(context);
  objects.replace([]);
  const pod = podWith([
    { name: 'conf', configMap: { name: 'c' } },
    { name: 'host', hostPath: { path: '/nonexistent', type: 'Directory' } },
  ]);
  const missing = await manager.mountForPod(pod, signal);
  assert.deepEqual(
    { ...missing, failures: missing.failures.map(({ message }) => message) },
    {
      paths: new Map(),
      failures: [
        'MountVolume.SetUp failed for volume "conf" : configmap "c" not found',
        'MountVolume.SetUp failed for volume "host" : hostPath type check failed: /nonexistent is not a directory',
      ],
      complete: false,
    },
  );
  objects.replace([configMap('late')]);
  const { failures, complete } = await manager.mountForPod(podWith(pod.spec.volumes!.slice(0, 1)), signal);
  assert.deepEqual([failures, complete], [[], true]);
});

test('a volume not used by any container is not created', async (context) => {
  const { manager, directories } = await setUp(context);
  const pod = podWith([
    { name: 'data', emptyDir: {} },
    { name: 'unused', configMap: { name: 'none' } },
  ]);
  pod.spec.containers[0]!.volumeMounts!.pop();
  const { paths, failures } = await manager.mountForPod(pod, signal);
  assert.deepEqual([[...paths.keys()], failures], [['data'], []]);
  assert.deepEqual(await readdir(directories.volumes('p')), ['kubernetes.io~empty-dir']);
});

test('a volume that can no longer be updated stays unchanged, even across a restart', async (context) => {
  const { manager, newManager, objects } = await setUp(context);
  const volumes: Volume[] = [
    { name: 'secret', secret: { secretName: 's' } },
    { name: 'conf', configMap: { name: 'c' } },
  ];
  await manager.mountForPod(podWith(volumes), signal);
  objects.replace([]);
  for (const now of [manager, newManager()]) {
    const { paths, failures, complete } = await now.mountForPod(podWith(volumes), signal);
    assert.deepEqual([failures.length, complete], [2, true]);
    assert.equal(await readFile(join(paths.get('secret')!, 'key'), 'utf8'), 's3cret');
    assert.equal(await readFile(join(paths.get('conf')!, 'page'), 'utf8'), 'hello');
  }
});

test('the fsGroup owns writable volumes and can read generated files', async (context) => {
  const { manager } = await setUp(context);
  const volumes: Volume[] = [
    { name: 'data', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
    { name: 'secret', secret: { secretName: 's', defaultMode: 0o400 } },
  ];
  const { paths } = await manager.mountForPod(podWith(volumes, { securityContext: { fsGroup: 4321 } }), signal);
  for (const [name, mode] of [
    ['data', 0o2777],
    ['memory', 0o3777],
    ['secret', 0o3777],
  ] as const) {
    const stats = await stat(paths.get(name)!);
    assert.deepEqual([stats.gid, stats.mode & 0o7777], [4321, mode], name);
  }
  const { gid, mode } = await stat(join(paths.get('secret')!, 'key'));
  assert.deepEqual([gid, mode & 0o777], [4321, 0o440]);
});

test('a subPath mounts a part of the volume, which is created if missing', async (context) => {
  const { manager } = await setUp(context);
  const pod = podWith([{ name: 'data', emptyDir: {} }]);
  const volumePath = (await manager.mountForPod(pod, signal)).paths.get('data')!;
  await chown(volumePath, 7, 7);
  await chmod(volumePath, 0o3777);
  const shown = await manager.prepareSubPath(subPathRequest(volumePath, 'new/deep'), signal);
  await writeFile(join(shown, 'file'), 'x');
  assert.equal(await readFile(join(volumePath, 'new/deep/file'), 'utf8'), 'x');
  for (const made of ['new', 'new/deep'])
    assert.equal((await stat(join(volumePath, made))).mode & 0o7777, 0o3777, 'set-group-ID and sticky bits as well');
  assert.equal(await manager.prepareSubPath(subPathRequest(volumePath, 'new/deep'), signal), shown);
  const file = await manager.prepareSubPath(subPathRequest(volumePath, 'new/deep/file'), signal);
  assert.equal(await readFile(file, 'utf8'), 'x', 'another subPath for the same mount replaces the first');
  await manager.unmountForPod('p');
  await assert.rejects(access(shown));
});

test('a subPath in a ConfigMap is the file that its links point to', async (context) => {
  const { manager } = await setUp(context);
  const volumePath = (
    await manager.mountForPod(podWith([{ name: 'data', configMap: { name: 'c' } }]), signal)
  ).paths.get('data')!;
  const shown = await manager.prepareSubPath(subPathRequest(volumePath, 'page'), signal);
  assert.equal(await readFile(shown, 'utf8'), 'hello');
});

test('a subPath never leads out of its volume', async (context) => {
  const { manager, scratch } = await setUp(context);
  const volumePath = (await manager.mountForPod(podWith([{ name: 'data', emptyDir: {} }]), signal)).paths.get('data')!;
  await mkdir(join(scratch, 'host'));
  await writeFile(join(scratch, 'host/secret'), 'of the host');
  await symlink(join(scratch, 'host'), join(volumePath, 'absolute'));
  await symlink('../../../../../../host', join(volumePath, 'relative'));
  await symlink('/', join(volumePath, 'root'));
  await symlink('inner', join(volumePath, 'fine'));
  await mkdir(join(volumePath, 'inner'));
  await writeFile(join(volumePath, 'plain'), '');
  for (const subPath of ['absolute', 'absolute/secret', 'relative', 'root', 'root/etc', 'absolute/new']) {
    await assert.rejects(
      manager.prepareSubPath(subPathRequest(volumePath, subPath), signal),
      /it leads out of the volume/,
      subPath,
    );
  }
  await assert.rejects(manager.prepareSubPath(subPathRequest(volumePath, 'plain/below'), signal));
  assert.deepEqual(await readdir(join(scratch, 'host')), ['secret']);
  await manager.prepareSubPath(subPathRequest(volumePath, 'fine/new'), signal);
  assert.deepEqual(await readdir(join(volumePath, 'inner')), ['new']);
});

test('a directory replaced by a link to the host while being opened is never mounted', async (context) => {
  const { manager, scratch } = await setUp(context);
  const volumePath = (await manager.mountForPod(podWith([{ name: 'data', emptyDir: {} }]), signal)).paths.get('data')!;
  await mkdir(join(scratch, 'host'));
  await writeFile(join(scratch, 'host/secret'), 'of the host');
  await mkdir(join(volumePath, 'dir'));
  await symlink(join(scratch, 'host'), join(volumePath, 'link'));
  let stop = false;
  let shownOnce = false;
  const move = (from: string, to: string) =>
    rename(join(volumePath, from), join(volumePath, to)).catch(() => undefined);
  const attack = (async () => {
    while (!stop) {
      await move('dir', 'away');
      await move('link', 'dir');
      await move('dir', 'link');
      // `prepareSubPath`, which this loop attacks, might have created the directory in between
      await rmdir(join(volumePath, 'dir')).catch(() => undefined);
      await move('away', 'dir');
    }
  })();
  for (let round = 0; round < 100; round++) {
    const shown = await manager.prepareSubPath(subPathRequest(volumePath, 'dir'), signal).catch(() => undefined);
    shownOnce ||= shown !== undefined;
    if (shown !== undefined) assert.ok(!(await readdir(shown)).includes('secret'));
  }
  stop = true;
  await attack;
  assert.ok(shownOnce, 'the directory itself is mounted');
});

test('leftovers of unknown pods are unmounted and removed, but nothing behind mounts is deleted', async (context) => {
  const { manager, newManager, scratch, directories, mounter } = await setUp(context);
  const pod = podWith([
    { name: 'data', emptyDir: { medium: 'Memory' } },
    { name: 'secret', secret: { secretName: 's' } },
  ]);
  await manager.mountForPod(pod, signal);
  await mkdir(join(scratch, 'precious'));
  await writeFile(join(scratch, 'precious/file'), 'x');
  const below = join(directories.pod('p'), 'volumes/kubernetes.io~empty-dir/data/bound');
  await mkdir(below);
  await runChecked('mount', ['--bind', join(scratch, 'precious'), below]);
  assert.deepEqual(await newManager().removeOrphans((uid) => uid === 'p'), []);
  assert.deepEqual(await newManager().removeOrphans(() => false), ['p']);
  assert.deepEqual(await mounter.mountsBelow(directories.root), []);
  assert.deepEqual(await readdir(directories.root), []);
  assert.equal(await readFile(join(scratch, 'precious/file'), 'utf8'), 'x');
});

test('a pod that is added again while its leftovers are being removed gets a new volume', async (context) => {
  const { manager } = await setUp(context);
  const pod = podWith([{ name: 'data', emptyDir: { medium: 'Memory' } }]);
  const before = (await manager.mountForPod(pod, signal)).paths.get('data')!;
  await writeFile(join(before, 'file'), 'x');
  let mounting: ReturnType<typeof manager.mountForPod> | undefined;
  const isKnown = () => {
    mounting ??= manager.mountForPod(pod, signal);
    return false;
  };
  assert.deepEqual(await manager.removeOrphans(isKnown), ['p']);
  const path = (await mounting!).paths.get('data')!;
  await writeFile(join(path, 'another'), 'x');
  assert.deepEqual(await manager.removeOrphans(() => true), []);
  assert.deepEqual(await readdir(path), ['another']);
});

test('a root directory behind a link is cleaned up too', async (context) => {
  const { scratch, mounter, objects, claims } = await setUp(context);
  await mkdir(join(scratch, 'real'));
  await symlink('real', join(scratch, 'linked'));
  const nodeAllocatable = { cpuMillis: 1n, memoryBytes: 1n << 30n, ephemeralStorageBytes: 1n };
  const manager = new VolumeManager({
    directories: new PodDirectories(join(scratch, 'linked')),
    mounter,
    logger: silentLogger,
    plugins: builtinVolumePlugins({ mounter, objects, nodeAllocatable, claims }),
  });
  const pod = podWith([{ name: 'data', emptyDir: { medium: 'Memory' } }]);
  await manager.mountForPod(pod, signal);
  await manager.mountForPod(pod, signal);
  assert.equal((await mounter.mountsBelow(join(scratch, 'real'))).length, 1);
  await manager.removeForPod('p');
  assert.deepEqual(await mounter.mountsBelow(join(scratch, 'real')), []);
});

const HUGETLBFS_MAGIC = 0x958458f6;

test('a huge pages emptyDir uses the page size requested by the pod', async (context) => {
  const { manager, mounter } = await setUp(context);
  const volumes: Volume[] = [
    { name: 'any', emptyDir: { medium: 'HugePages' } },
    { name: 'sized', emptyDir: { medium: 'HugePages-2Mi' } },
  ];
  const pod = podWith(volumes, { securityContext: { fsGroup: 4321 } });
  const { failures } = await manager.mountForPod(pod, signal);
  assert.deepEqual(
    failures.map(({ message }) => message.replace(/ volume "\w+" : medium [\w-]+/, '')),
    Array(2).fill(
      'MountVolume.SetUp failed for: hugePages storage requested, but there is no resource request for huge pages',
    ),
  );
  pod.spec.containers[0]!.resources = { limits: { 'hugepages-2Mi': '4Mi' } };
  const { paths } = await manager.mountForPod(pod, signal);
  await manager.mountForPod(pod, signal);
  for (const path of paths.values()) {
    const { type, bsize } = await statfs(path);
    const { gid, mode } = await stat(path);
    assert.deepEqual([type, bsize, gid, mode & 0o7777], [HUGETLBFS_MAGIC, 2 << 20, 4321, 0o2775]);
    assert.deepEqual(await mounter.mountsBelow(path), [path], 'mounted once');
  }
});

const claimOf = (claimName: string, readOnly?: boolean): Volume[] => [
  { name: 'data', persistentVolumeClaim: { claimName, readOnly } },
];

test('a ReadWriteOncePod claim makes a second pod wait until the first one is removed', async (context) => {
  const { manager, objects } = await setUp(context);
  const spec = { accessModes: ['ReadWriteOncePod' as const] };
  objects.replace([{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: metadata('alone'), spec }]);
  const first = podWith(claimOf('alone'));
  const second = { ...first, metadata: metadata('q') };
  assert.deepEqual((await manager.mountForPod(first, signal)).failures, []);
  assert.deepEqual((await manager.mountForPod(first, signal)).failures, [], 'the first pod can mount it again');
  assert.match(
    (await manager.mountForPod(second, signal)).failures[0]!.message,
    /ReadWriteOncePod .* in use by another pod$/,
  );
  await manager.removeForPod('p');
  assert.deepEqual((await manager.mountForPod(second, signal)).failures, []);
});

test('a claim may have a name of the maximum length', async (context) => {
  const { claims } = await setUp(context);
  const [namespace, name] = ['n'.repeat(63), 'c'.repeat(253)];
  const path = await claims.make(namespace!, name!);
  assert.equal((await stat(path)).mode & 0o7777, 0o777);
  assert.deepEqual(
    claims.list().map((claim) => claim.name),
    [name],
  );
});

test('a claim is a node directory that pods share and that outlives them until it is deleted', async (context) => {
  const { manager, newManager, claims, mounter } = await setUp(context);
  const first = podWith(claimOf('keep'));
  const second = { ...first, metadata: metadata('q') };
  const path = (await manager.mountForPod(first, signal)).paths.get('data')!;
  assert.equal((await stat(path)).mode & 0o7777, 0o777);
  await writeFile(join(path, 'file'), 'x');
  const other = (await manager.mountForPod(second, signal)).paths.get('data')!;
  assert.equal(await readFile(join(other, 'file'), 'utf8'), 'x');
  await manager.removeForPod('p');
  await newManager().mountForPod(second, signal);
  assert.deepEqual(await mounter.mountsBelow(other), [other], 'mounted once');
  await manager.removeForPod('q');
  const again = (await newManager().mountForPod(first, signal)).paths.get('data')!;
  assert.equal(await readFile(join(again, 'file'), 'utf8'), 'x');
  await manager.removeForPod('p');
  assert.deepEqual(
    claims.list().map(({ namespace, name }) => `${namespace}/${name}`),
    ['default/keep'],
  );
  assert.equal(claims.remove('default', 'keep'), true);
  assert.deepEqual([claims.list(), claims.remove('default', 'keep')], [[], false]);
  assert.deepEqual(await readdir((await manager.mountForPod(first, signal)).paths.get('data')!), []);
});

test('the first pod using a claim sets its group to the fsGroup, depending on its change policy', async (context) => {
  const { manager, claims, scratch } = await setUp(context);
  const source = await claims.make('default', 'keep');
  await mkdir(join(source, 'sub'), { mode: 0o700 });
  await writeFile(join(source, 'sub/program'), '', { mode: 0o700 });
  await chmod(join(source, 'sub/program'), 0o4700);
  await writeFile(join(scratch, 'of-the-host'), '', { mode: 0o600 });
  await symlink(join(scratch, 'of-the-host'), join(source, 'link'));
  const podOf = (uid: string, fsGroup: number, fsGroupChangePolicy?: string) => ({
    ...podWith(claimOf('keep'), { securityContext: { fsGroup, fsGroupChangePolicy } }),
    metadata: metadata(uid),
  });
  const owners = async () =>
    Promise.all(
      ['.', 'sub', 'sub/program'].map(async (name) => {
        const { gid, mode } = await stat(join(source, name));
        return [gid, (mode & 0o7777).toString(8)];
      }),
    );
  await manager.mountForPod(podOf('p', 4321), signal);
  const given = [
    [4321, '2777'],
    [4321, '2770'],
    [4321, '4760'],
  ];
  assert.deepEqual(await owners(), given);
  const host = await stat(join(scratch, 'of-the-host'));
  assert.deepEqual([host.gid, host.mode & 0o7777], [0, 0o600], 'links are not followed');
  await manager.mountForPod(podOf('q', 5), signal);
  assert.deepEqual(await owners(), given, 'another pod uses the claim');
  for (const uid of ['p', 'q']) await manager.removeForPod(uid);
  await chown(join(source, 'sub'), 0, 0);
  await manager.mountForPod(podOf('p', 4321, 'OnRootMismatch'), signal);
  assert.equal((await stat(join(source, 'sub'))).gid, 0, 'with OnRootMismatch a matching root means no change');
  await manager.removeForPod('p');
  await manager.mountForPod(podOf('p', 4321, 'Always'), signal);
  assert.equal((await stat(join(source, 'sub'))).gid, 4321);
});

test('a claim’s name cannot lead to a different directory', async (context) => {
  const { claims } = await setUp(context);
  for (const name of ['..', '', 'a/b']) {
    await assert.rejects(claims.make('default', name), { code: 'invalid_argument' });
    assert.throws(() => claims.remove(name, 'default'), { code: 'invalid_argument' });
  }
});

test('an nfs volume requires the host’s mount helper', async (context) => {
  const { scratch, mounter } = await setUp(context);
  const plugin = new NfsPlugin(mounter, join(scratch, 'mount.nfs'));
  const volume = { name: 'n', nfs: { server: '127.0.0.1', path: '/export' } };
  const directory = join(scratch, 'volume');
  await assert.rejects(plugin.setUp({ pod: podWith([volume]), volume, directory }, signal), {
    code: 'failed_precondition',
    message: /^there is no .*mount\.nfs on the node: install nfs-common/,
  });
  await assert.rejects(access(directory), { code: 'ENOENT' });
});

test('volumes with mount propagation are shared, and leave nothing behind', async (context) => {
  const { manager, mounter, directories } = await setUp(context);
  const pod = podWith([{ name: 'data', emptyDir: {} }]);
  pod.spec.containers[0]!.volumeMounts![0]!.mountPropagation = 'Bidirectional';
  for (let turn = 0; turn < 2; turn++) {
    const path = (await manager.mountForPod(pod, signal)).paths.get('data')!;
    assert.equal(await mounter.isShared(path), true);
  }
  await manager.unmountForPod('p');
  await assert.rejects(access(directories.volumes('p')), { code: 'ENOENT' });
});
