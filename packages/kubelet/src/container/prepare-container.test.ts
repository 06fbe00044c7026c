import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { type Container, LocalObjects, type Pod } from '@podwright/kube-api';
import { builtinVolumePlugins, ClaimVolumes, PodDirectories, ProgramMounter, VolumeManager } from '@podwright/volumes';
import { ContainerPreparer } from './prepare-container.ts';
import type { PrepareRequest } from './prepared-container.ts';

const signal = new AbortController().signal;

type PrepareOptions = { spec?: object } & Partial<Pick<PrepareRequest, 'podIps' | 'volumeImages'>>;

async function setUp(context: TestContext) {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-prepare-'));
  context.after(() => rm(scratch, { recursive: true }));
  const objects = new LocalObjects();
  const directories = new PodDirectories(scratch);
  const mounter = new ProgramMounter();
  const nodeAllocatable = { cpuMillis: 1n, memoryBytes: 1n, ephemeralStorageBytes: 1n };
  const claims = new ClaimVolumes(scratch, silentLogger);
  const plugins = builtinVolumePlugins({ mounter, objects, nodeAllocatable, claims });
  const volumes = new VolumeManager({ directories, mounter, plugins, logger: silentLogger });
  const hostsFile = join(scratch, 'hosts');
  await writeFile(hostsFile, '127.0.0.1 the-host\n');
  const common = { volumes, directories, objects, nodeAllocatable, hostsFile };
  const preparer = new ContainerPreparer({ ...common, hostIps: () => ['192.0.2.1'], clusterDomain: 'cluster.local' });
  const prepare = (fields: Partial<Container>, options: PrepareOptions = {}) => {
    const container = { name: 'web', image: 'i', terminationMessagePath: '/dev/termination-log', ...fields };
    const metadata = { name: 'p', namespace: 'default', uid: 'u' };
    const spec = { containers: [container], volumes: [{ name: 'data', emptyDir: {} }], ...options.spec };
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
    const { podIps = ['10.0.0.2'], volumeImages = new Map() } = options;
    return preparer.prepare({ pod, container, podIps, volumeImages, recursiveReadOnly: false }, signal);
  };
  return { scratch, prepare };
}

test('command and arguments are expanded with the environment', async (context) => {
  const { prepare } = await setUp(context);
  const env = [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }];
  const prepared = await prepare({ command: ['serve', '$(IP):80'], args: ['$$(IP)', '$(NONE)'], env });
  assert.deepEqual(prepared.command, ['serve', '10.0.0.2:80']);
  assert.deepEqual(prepared.args, ['$(IP)', '$(NONE)']);
  assert.deepEqual(prepared.environment, [{ name: 'IP', value: '10.0.0.2' }]);
});

test('volumes, the hosts file and the message file are mounted from their host paths', async (context) => {
  const { prepare, scratch } = await setUp(context);
  const { mounts } = await prepare({ volumeMounts: [{ name: 'data', mountPath: '/data' }] });
  assert.deepEqual(
    mounts.map(({ name, containerPath }) => [name, containerPath]),
    [
      ['data', '/data'],
      ['etc-hosts', '/etc/hosts'],
      ['termination-log', '/dev/termination-log'],
    ],
  );
  const [data, hosts, message] = mounts.map(({ hostPath }) => hostPath);
  assert.equal(data, join(scratch, 'pods/u/volumes/kubernetes.io~empty-dir/data'));
  assert.match(await readFile(hosts!, 'utf8'), /^10\.0\.0\.2\tp$/m);
  assert.equal((await stat(message!)).mode & 0o777, 0o666);
});

test('a relative terminationMessagePath is relative to the root', async (context) => {
  const { prepare } = await setUp(context);
  const { mounts } = await prepare({ terminationMessagePath: 'end//here' });
  assert.equal(mounts.find(({ name }) => name === 'termination-log')!.containerPath, '/end/here');
});

test('the kubelet’s hosts file is omitted if the container mounts its own or the pod has no address', async (context) => {
  const { prepare } = await setUp(context);
  const own = await prepare({ volumeMounts: [{ name: 'data', mountPath: '/etc//hosts' }] });
  const bare = await prepare({}, { podIps: [] });
  for (const { mounts } of [own, bare]) assert.ok(!mounts.some(({ name }) => name === 'etc-hosts'));
});

test('a host network pod has the host’s hosts file', async (context) => {
  const { prepare } = await setUp(context);
  const { mounts } = await prepare({}, { spec: { hostNetwork: true }, podIps: [] });
  assert.match(await readFile(mounts[0]!.hostPath, 'utf8'), /the-host/);
});

test('an up-to-date hosts file is not replaced under running containers', async (context) => {
  const { prepare } = await setUp(context);
  const inode = async () => (await stat((await prepare({})).mounts[0]!.hostPath)).ino;
  assert.equal(await inode(), await inode());
});

test('a hosts file changed by a container is rewritten, even if it is now a symlink or FIFO', async (context) => {
  const { prepare } = await setUp(context);
  const path = (await prepare({})).mounts[0]!.hostPath;
  const wanted = await readFile(path, 'utf8');
  const changes: (() => Promise<unknown>)[] = [
    () => writeFile(path, 'x'.repeat(wanted.length)),
    () => writeFile(path, ''),
    () => truncate(path, 2 ** 40),
    () => rm(path).then(() => symlink('/dev/zero', path)),
    () => rm(path).then(() => runChecked('mkfifo', [path])),
  ];
  for (const change of changes) {
    await change();
    await prepare({});
    assert.equal(await readFile(path, 'utf8'), wanted);
    assert.ok((await lstat(path)).isFile());
  }
});

test('message files from earlier starts are limited', async (context) => {
  const { prepare, scratch } = await setUp(context);
  for (let start = 0; start < 12; start++) await prepare({});
  assert.equal((await readdir(join(scratch, 'pods/u/containers/web'))).length, 5);
});

test('an image is mounted by the runtime, at a path within it', async (context) => {
  const { prepare } = await setUp(context);
  const image = { image: 'sha256:1', userSpecifiedImage: 'model:1', runtimeHandler: '', annotations: {} };
  const { mounts } = await prepare(
    { volumeMounts: [{ name: 'model', mountPath: '/m', subPath: 'weights' }] },
    {
      spec: { volumes: [{ name: 'model', image: { reference: 'model:1' } }] },
      volumeImages: new Map([['model', image]]),
    },
  );
  const [{ hostPath, imageSubPath, readonly, ...mount }] = mounts as [(typeof mounts)[0]];
  assert.deepEqual([hostPath, imageSubPath, readonly, mount.image], ['', 'weights', true, image]);
});

test('a variable is read only from a regular file inside the volume', async (context) => {
  const { prepare, scratch } = await setUp(context);
  await prepare({ volumeMounts: [{ name: 'data', mountPath: '/data' }] });
  const volume = join(scratch, 'pods/u/volumes/kubernetes.io~empty-dir/data');
  const read = async (path: string) => {
    const fileKeyRef = { volumeName: 'data', path, key: 'A' };
    return (await prepare({ env: [{ name: 'A', valueFrom: { fileKeyRef } }] })).environment[0]?.value;
  };
  await mkdir(join(volume, 'd'));
  await writeFile(join(volume, 'd/env'), "A='1'\n");
  await symlink('d/env', join(volume, 'inside'));
  await symlink('/etc/passwd', join(volume, 'outside'));
  await runChecked('mkfifo', [join(volume, 'fifo')]);
  await writeFile(join(volume, 'huge'), '');
  await truncate(join(volume, 'huge'), 2 ** 40);
  assert.equal(await read('d/env'), '1');
  assert.equal(await read('inside'), '1');
  const refused: [string, RegExp][] = [
    ['outside', /leads out of the volume/],
    ['fifo', /not a regular file/],
    ['d', /not a regular file/],
    ['huge', /larger than/],
    ['d/env/x', /a part of it is a link or a file/],
    ['none', /key "A" not found in file "none"/],
  ];
  for (const [path, message] of refused) await assert.rejects(read(path), { code: 'failed_precondition', message });
});
