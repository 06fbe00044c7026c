import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger, waitFor } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { NodeServiceCapability_RPC_Type } from '../csi-api.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { PodDirectories } from '../volumes/pod-directories.ts';
import { CsiBlockPaths } from './csi-block-paths.ts';
import { CsiBlockVolumes, type CsiBlockVolumesOptions } from './csi-block-volumes.ts';
import { CsiPaths } from './csi-paths.ts';
import type { CsiVolume } from './csi-volume.ts';
import { CsiVolumes, type CsiVolumesOptions } from './csi-volumes.ts';
import { writeVolumeData } from './volume-data.ts';
import { VolumesInUse } from './volumes-in-use.ts';

const DRIVER = 'd.example';
const KEY = `kubernetes.io/csi/${DRIVER}^h`;
const volume = { mode: 'Persistent', driver: DRIVER, handle: 'h', name: 'v', accessModes: [] } as unknown as CsiVolume;
const STAGES = { type: { case: 'rpc', value: { type: NodeServiceCapability_RPC_Type.STAGE_UNSTAGE_VOLUME } } };
const pod = (uid: string) => ({ metadata: { namespace: 'a', name: uid, uid } }) as Pod;

/** A node with a staged file system volume and a recorded block volume, with nothing mounted. */
async function newNode(context: TestContext, mounter: Partial<Mounter> = {}) {
  const rootDir = mkdtempSync(join(tmpdir(), 'pwk-csi-'));
  context.after(() => rmSync(rootDir, { recursive: true }));
  const pods = new PodDirectories(rootDir);
  const shared = { rootDir, pods, mounter: { isMountPoint: async () => false, ...mounter } as Mounter };
  const inUse: VolumesInUse = new VolumesInUse(() => {
    setImmediate(() => inUse.reported(inUse.names(), []));
  });
  const unstaged: string[] = [];
  const service = {
    nodeGetCapabilities: async () => ({ capabilities: [STAGES] }),
    nodeUnstageVolume: async ({ volumeId }: { volumeId: string }) => void unstaged.push(volumeId),
  };
  const drivers = {
    has: () => true,
    require: () => undefined,
    call: (_: string, work: (node: typeof service) => Promise<unknown>) => work(service),
  };
  const errors: { directory: string; error: string }[] = [];
  const logger = { ...silentLogger, error: (fields: { directory: string; error: string }) => void errors.push(fields) };
  const parts = {
    ...{ inUse, nodeName: 'n', logger, driversKnown: Promise.resolve() },
    ...{ drivers, objects: { driver: async () => undefined }, expansion: { forget: () => undefined } },
  };
  const paths = new CsiPaths(shared);
  const block = new CsiBlockPaths(shared);
  const staged = paths.staged(volume);
  for (const directory of [staged, block.data('v')]) {
    mkdirSync(directory, { recursive: true });
    await writeVolumeData(directory, { driverName: DRIVER, volumeHandle: directory === staged ? 'h' : 'b' });
  }
  return {
    ...{ inUse, staged, unstaged, errors, pods, block, root: join(rootDir, 'plugins/kubernetes.io/csi') },
    volumes: new CsiVolumes({ ...parts, paths } as unknown as CsiVolumesOptions),
    blockVolumes: new CsiBlockVolumes({
      ...{ ...parts, paths: block },
      maps: {},
    } as unknown as CsiBlockVolumesOptions),
  };
}

test('a staged volume is in use even if an unrelated sibling directory cannot be removed', async (context) => {
  const failure = new Error('no look at it');
  const node = await newNode(context, {
    isMountPoint: () => Promise.reject(failure),
    mountsBelow: () => Promise.reject(failure),
  });
  for (const place of [`${DRIVER}/unnoted`, 'volumeDevices/unnoted']) mkdirSync(join(node.root, place));
  await assert.rejects(node.volumes.load(), failure);
  await assert.rejects(node.blockVolumes.load(), failure);
  assert.deepEqual(node.inUse.names(), [`kubernetes.io/csi/${DRIVER}^b`, KEY]);
});

/**
 * Puts a directory in place of `vol_data.json`, which makes reading it fail, as on a failing disk. `garbled` writes truncated JSON instead.
 */
const unreadable = (directory: string) => mkdirSync(join(directory, 'vol_data.json'), { recursive: true });
function garbled(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'vol_data.json'), '{"driverName":"d.ex');
}

for (const when of ['before', 'after'] as const)
  test(`if a record is unreadable, all volumes that the node object lists stay in use, reported ${when} the load`, async (context) => {
    const node = await newNode(context);
    const bad = [
      join(node.root, DRIVER, 'bad'),
      join(node.root, 'volumeDevices/bad/data'),
      node.pods.volume('p', 'kubernetes.io/csi', 'bad'),
    ];
    unreadable(bad[0]!);
    for (const directory of bad.slice(1)) garbled(directory);
    if (when === 'before') node.inUse.reported(['listed', KEY], []);
    await node.volumes.load();
    await node.blockVolumes.load();
    if (when === 'after') node.inUse.reported(['listed', KEY], []);
    assert.deepEqual(node.inUse.names(), [`kubernetes.io/csi/${DRIVER}^b`, KEY, 'listed']);
    assert.deepEqual(node.errors.map(({ directory }) => directory).sort(), bad.sort());
    const [garbage, failed] = [
      '/bad/vol_data.json is not a JSON object',
      '/bad/vol_data.json: it is not a regular file',
    ];
    for (const why of [garbage, failed])
      assert.ok(
        node.errors.some(({ error }) => error.includes(why)),
        JSON.stringify(node.errors),
      );
    node.inUse.free('listed');
    node.inUse.reported(['listed', KEY], []);
    assert.equal(node.inUse.names().includes('listed'), false, 'only the first list is kept');
  });

test('an unreadable record of a staged volume does not delay the removal of others', async (context) => {
  const node = await newNode(context);
  unreadable(join(node.root, DRIVER, 'bad'));
  await node.volumes.load();
  await node.volumes.tearDown('p');
  assert.deepEqual([node.unstaged, node.inUse.names()], [['h'], []]);
});

test('while a pod’s record is unreadable, volumes it may refer to are not unstaged, and tearing down the mounted one fails', async (context) => {
  const node = await newNode(context, { isMountPoint: async (path) => path.includes('/pods/p/') });
  const bad = node.pods.volume('p', 'kubernetes.io/csi', 'bad');
  garbled(bad);
  await node.volumes.load();
  await node.volumes.tearDown('another');
  assert.deepEqual([node.unstaged, node.inUse.names()], [[], [KEY]]);
  await assert.rejects(
    node.volumes.tearDown('p'),
    /^PodwrightError: UnmountVolume.TearDown failed for volume "bad" : .*vol_data.json is not a JSON object/,
  );
});

test('volumes remain in use and mounted if they cannot be listed', async (context) => {
  const node = await newNode(context);
  await node.volumes.load();
  const place = node.pods.volume('p', 'kubernetes.io/csi', 'v');
  node.inUse.request(place, KEY, { attachable: true });
  const driver = join(node.root, DRIVER);
  const hide = (directory: string) => {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(dirname(directory), { recursive: true });
    symlinkSync(directory, directory);
  };
  hide(driver);
  await node.volumes.tearDown('p');
  assert.ok(node.inUse.names().includes(KEY), 'it may be staged');
  hide(dirname(place));
  await assert.rejects(node.volumes.tearDown('p'), { code: 'ELOOP' });
});

test('a pod’s unreadable volume is removed with the pod if nothing is mounted there', async (context) => {
  const node = await newNode(context);
  await node.volumes.load();
  const bad = node.pods.volume('p', 'kubernetes.io/csi', 'bad');
  garbled(bad);
  await node.volumes.tearDown('another');
  assert.deepEqual([node.unstaged, node.errors.map(({ directory }) => directory)], [[], [bad]]);
  await node.volumes.tearDown('p');
  assert.deepEqual([existsSync(bad), node.unstaged, node.inUse.names()], [false, ['h'], []]);
});

test('a block volume with an unreadable record stays with its pod', async (context) => {
  const node = await newNode(context);
  garbled(join(node.root, 'volumeDevices/v/data'));
  const link = node.pods.volumeDevice('p', 'kubernetes.io/csi', 'v');
  mkdirSync(dirname(link), { recursive: true });
  writeFileSync(link, '');
  const why = /UnmapVolume.UnmapPodDevice failed for volume "v" : .*vol_data.json is not a JSON object/;
  await assert.rejects(node.blockVolumes.tearDown('p'), why);
});

test('unrelated files next to volumes remain and do not cause delays', async (context) => {
  const node = await newNode(context);
  const files = ['file', `${DRIVER}/file`, 'volumeDevices/file'].map((name) => join(node.root, name));
  for (const file of files) writeFileSync(file, 'mine');
  const unnoted = join(node.root, DRIVER, 'unnoted');
  mkdirSync(unnoted);
  writeFileSync(join(unnoted, 'vol_data.json.0123456789ab.tmp'), '{');
  await node.volumes.load();
  await node.blockVolumes.load();
  assert.deepEqual(
    files.map((file) => readFileSync(file, 'utf8')),
    ['mine', 'mine', 'mine'],
  );
  assert.equal(existsSync(unnoted), false);
  assert.equal(existsSync(node.staged), true);
});

test('a volume recorded during a load remains recorded', async (context) => {
  const note = (path: string) => writeVolumeData(dirname(path), { driverName: DRIVER, volumeHandle: 'late' });
  const node = await newNode(context, { isMountPoint: (path) => note(path).then(() => false) });
  const late = join(node.root, DRIVER, 'late');
  mkdirSync(late);
  await node.volumes.load();
  assert.equal(existsSync(join(late, 'vol_data.json')), true);
});

for (const kind of ['volumes', 'blockVolumes'] as const)
  test(`${kind}: the teardown of a pod does not wait for the attachment of another pod’s volume`, async (context) => {
    const node = await newNode(context);
    await node[kind].load();
    const end = new AbortController();
    const asked = kind === 'volumes' ? volume : { ...volume, handle: 'b', isBlock: true };
    const waits = assert.rejects(node[kind].setUp(pod('waits'), asked, end.signal), /enough/);
    await sleep(20);
    const ended = node[kind].tearDown('ends').then(() => 'ended');
    assert.equal(await Promise.race([ended, sleep(1000, 'still waits')]), 'ended');
    end.abort(new Error('enough'));
    await waits;
    await ended;
  });

test('the record of a block volume is removed after everything else in its directory', async (context) => {
  const { root, block } = await newNode(context, { mountsBelow: async () => [] });
  const directory = join(root, 'volumeDevices/v');
  mkdirSync(join(directory, 'dev'));
  for (let pod = 0; pod < 50; pod++) writeFileSync(join(directory, 'dev', `pod-${pod}`), '');
  const removed: (string | null)[] = [];
  const watchers = ['dev', 'data'].map((name) => watch(join(directory, name), (_, file) => void removed.push(file)));
  context.after(() => watchers.forEach((one) => void one.close()));
  await block.remove('v');
  const signal = AbortSignal.timeout(10_000);
  await waitFor(() => (removed.includes('pod-49') && removed.includes('vol_data.json')) || undefined, {
    intervalMs: 5,
    signal,
  });
  const record = removed.indexOf('vol_data.json');
  const later = removed.slice(record).filter((file) => file?.startsWith('pod-'));
  assert.deepEqual([later, existsSync(directory)], [[], false]);
});
