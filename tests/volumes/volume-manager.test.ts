/** Volumes on real mounts; needs root. */
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
import { runChecked, silentLogger } from '@podwright/base';
import type { LocalObject, Pod, Volume } from '../../packages/kubelet/src/api/types.ts';
import { LocalObjects } from '../../packages/kubelet/src/config/local-objects.ts';
import { builtinVolumePlugins } from '../../packages/kubelet/src/volumes/builtin-plugins.ts';
import { ProgramMounter } from '../../packages/kubelet/src/volumes/mounter.ts';
import { PodDirectories } from '../../packages/kubelet/src/volumes/pod-directories.ts';
import { VolumeManager } from '../../packages/kubelet/src/volumes/volume-manager.ts';

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
  const nodeAllocatable = { cpuMillis: 1n, memoryBytes: 1n, ephemeralStorageBytes: 1n };
  const newManager = () =>
    new VolumeManager({
      directories,
      mounter,
      logger: silentLogger,
      plugins: builtinVolumePlugins({ mounter, objects, nodeAllocatable }),
    });
  const manager = newManager();
  context.after(async () => {
    await manager.removeOrphans(new Set());
    assert.deepEqual(await mounter.mountsBelow(scratch), []);
    await rm(scratch, { recursive: true });
  });
  return { scratch, objects, mounter, directories, manager, newManager };
}

const podWith = (volumes: Volume[], spec: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata('p'),
  spec: { containers: [{ name: 'a', image: 'i' }], volumes, ...spec },
});

const subPathRequest = (volumePath: string, subPath: string) => ({
  podUid: 'p',
  containerName: 'a',
  volumeName: 'data',
  volumePath,
  subPath,
  index: 0,
});

test('an emptyDir is writable for all, stays over a restart, and goes with the pod', async (context) => {
  const { manager, newManager, directories } = await setUp(context);
  const pod = podWith([{ name: 'data', emptyDir: {} }]);
  const path = (await manager.mountForPod(pod, signal)).get('data')!;
  assert.equal(path, join(directories.pod('p'), 'volumes/kubernetes.io~empty-dir/data'));
  assert.equal((await stat(path)).mode & 0o7777, 0o777);
  await writeFile(join(path, 'file'), 'x');
  await chmod(path, 0o700);
  const again = newManager();
  await again.mountForPod(pod, signal);
  assert.equal(await readFile(join(path, 'file'), 'utf8'), 'x');
  assert.equal((await stat(path)).mode & 0o7777, 0o700, 'what a container changed stays');
  await again.unmountForPod('p');
  await assert.rejects(access(path));
  assert.deepEqual([...again.pathsOf('p')], []);
});

test('an emptyDir in memory is a tmpfs of its size, mounted once', async (context) => {
  const { manager, newManager, mounter, directories } = await setUp(context);
  const pod = podWith([{ name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }]);
  const path = (await manager.mountForPod(pod, signal)).get('data')!;
  await newManager().mountForPod(pod, signal);
  const { type, blocks, bsize } = await statfs(path);
  assert.deepEqual([type, blocks * bsize], [TMPFS_MAGIC, 1 << 20]);
  assert.equal((await mounter.mountsBelow(directories.pod('p'))).length, 1);
  await manager.unmountForPod('p');
  assert.deepEqual(await mounter.mountsBelow(directories.pod('p')), []);
});

test('a Secret is only in memory, a ConfigMap follows its object', async (context) => {
  const { manager, objects } = await setUp(context);
  const pod = podWith([
    { name: 'secret', secret: { secretName: 's', defaultMode: 0o400 } },
    { name: 'conf', configMap: { name: 'c' } },
  ]);
  const paths = await manager.mountForPod(pod, signal);
  assert.equal((await statfs(paths.get('secret')!)).type, TMPFS_MAGIC);
  assert.equal(await readFile(join(paths.get('secret')!, 'key'), 'utf8'), 's3cret');
  assert.equal((await stat(join(paths.get('secret')!, 'key'))).mode & 0o777, 0o400);
  assert.equal(await readFile(join(paths.get('conf')!, 'page'), 'utf8'), 'hello');
  objects.replace([configMap('changed'), secret]);
  await manager.mountForPod(pod, signal);
  assert.equal(await readFile(join(paths.get('conf')!, 'page'), 'utf8'), 'changed');
});

test('every volume that is not available is named, and the next try succeeds', async (context) => {
  const { manager, objects } = await setUp(context);
  objects.replace([]);
  const pod = podWith([
    { name: 'conf', configMap: { name: 'c' } },
    { name: 'host', hostPath: { path: '/nonexistent', type: 'Directory' } },
  ]);
  const message =
    'mount volumes of pod default/p: volume "conf": ConfigMap default/c not found; ' +
    'volume "host": hostPath of type Directory: there is no /nonexistent on the host';
  await assert.rejects(manager.mountForPod(pod, signal), { code: 'failed_precondition', message });
  objects.replace([configMap('late')]);
  await manager.mountForPod(podWith(pod.spec.volumes!.slice(0, 1)), signal);
});

test('the fsGroup owns what the pod may write and can read what the node wrote', async (context) => {
  const { manager } = await setUp(context);
  const volumes: Volume[] = [
    { name: 'data', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
    { name: 'secret', secret: { secretName: 's', defaultMode: 0o400 } },
  ];
  const paths = await manager.mountForPod(podWith(volumes, { securityContext: { fsGroup: 4321 } }), signal);
  for (const name of ['data', 'memory']) {
    const { gid, mode } = await stat(paths.get(name)!);
    assert.deepEqual([gid, mode & 0o7777], [4321, 0o2777], name);
  }
  const { gid, mode } = await stat(join(paths.get('secret')!, 'key'));
  assert.deepEqual([gid, mode & 0o777], [4321, 0o440]);
});

test('a subPath shows a part of the volume, made if it is missing', async (context) => {
  const { manager } = await setUp(context);
  const pod = podWith([{ name: 'data', emptyDir: {} }]);
  const volumePath = (await manager.mountForPod(pod, signal)).get('data')!;
  await chown(volumePath, 7, 7);
  const shown = await manager.prepareSubPath(subPathRequest(volumePath, 'new/deep'), signal);
  await writeFile(join(shown, 'file'), 'x');
  assert.equal(await readFile(join(volumePath, 'new/deep/file'), 'utf8'), 'x');
  assert.equal((await stat(shown)).mode & 0o777, 0o777);
  assert.equal(await manager.prepareSubPath(subPathRequest(volumePath, 'new/deep'), signal), shown);
  const file = await manager.prepareSubPath(subPathRequest(volumePath, 'new/deep/file'), signal);
  assert.equal(await readFile(file, 'utf8'), 'x', 'another path at the same place replaces the first');
  await manager.unmountForPod('p');
  await assert.rejects(access(shown));
});

test('a subPath of a ConfigMap is the file behind its links', async (context) => {
  const { manager } = await setUp(context);
  const volumePath = (await manager.mountForPod(podWith([{ name: 'data', configMap: { name: 'c' } }]), signal)).get(
    'data',
  )!;
  const shown = await manager.prepareSubPath(subPathRequest(volumePath, 'page'), signal);
  assert.equal(await readFile(shown, 'utf8'), 'hello');
});

test('a subPath never leads out of its volume', async (context) => {
  const { manager, scratch } = await setUp(context);
  const volumePath = (await manager.mountForPod(podWith([{ name: 'data', emptyDir: {} }]), signal)).get('data')!;
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

test('a directory that turns into a link to the host while it is being opened is never shown', async (context) => {
  const { manager, scratch } = await setUp(context);
  const volumePath = (await manager.mountForPod(podWith([{ name: 'data', emptyDir: {} }]), signal)).get('data')!;
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
      // in between a directory was made where none was
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
  assert.ok(shownOnce, 'the directory itself is shown');
});

test('what is left of unknown pods is unmounted and removed, and nothing behind mounts', async (context) => {
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
  assert.deepEqual(await newManager().removeOrphans(new Set(['p'])), []);
  assert.deepEqual(await newManager().removeOrphans(new Set()), ['p']);
  assert.deepEqual(await mounter.mountsBelow(directories.root), []);
  assert.deepEqual(await readdir(directories.root), []);
  assert.equal(await readFile(join(scratch, 'precious/file'), 'utf8'), 'x');
});

test('a root directory behind a link is cleaned as well', async (context) => {
  const { scratch, mounter, objects } = await setUp(context);
  await mkdir(join(scratch, 'real'));
  await symlink('real', join(scratch, 'linked'));
  const nodeAllocatable = { cpuMillis: 1n, memoryBytes: 1n, ephemeralStorageBytes: 1n };
  const manager = new VolumeManager({
    directories: new PodDirectories(join(scratch, 'linked')),
    mounter,
    logger: silentLogger,
    plugins: builtinVolumePlugins({ mounter, objects, nodeAllocatable }),
  });
  const pod = podWith([{ name: 'data', emptyDir: { medium: 'Memory' } }]);
  await manager.mountForPod(pod, signal);
  await manager.mountForPod(pod, signal);
  assert.equal((await mounter.mountsBelow(join(scratch, 'real'))).length, 1);
  await manager.removeForPod('p');
  assert.deepEqual(await mounter.mountsBelow(join(scratch, 'real')), []);
});
