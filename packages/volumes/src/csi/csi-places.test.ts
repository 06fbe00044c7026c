import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '@podwright/base';
import { NodeServiceCapability_RPC_Type } from '@podwright/cri/csi';
import type { Pod } from '@podwright/kube-api';
import type { Mounter } from '../volumes/mounter.ts';
import { PodDirectories } from '../volumes/pod-directories.ts';
import { CsiBlockPlaces } from './csi-block-places.ts';
import { CsiBlockVolumes, type CsiBlockVolumesOptions } from './csi-block-volumes.ts';
import { CsiPlaces } from './csi-places.ts';
import type { CsiVolume } from './csi-volume.ts';
import { CsiVolumes, type CsiVolumesOptions } from './csi-volumes.ts';
import { writeVolumeData } from './volume-data.ts';
import { VolumesInUse } from './volumes-in-use.ts';

const DRIVER = 'd.example';
const KEY = `kubernetes.io/csi/${DRIVER}^h`;
const volume = { mode: 'Persistent', driver: DRIVER, handle: 'h', name: 'v', accessModes: [] } as unknown as CsiVolume;
const STAGES = { type: { case: 'rpc', value: { type: NodeServiceCapability_RPC_Type.STAGE_UNSTAGE_VOLUME } } };
const pod = (uid: string) => ({ metadata: { namespace: 'a', name: uid, uid } }) as Pod;

/** A node where nothing is mounted, on which a volume of each kind is staged. */
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
  const places = new CsiPlaces(shared);
  const block = new CsiBlockPlaces(shared);
  const staged = places.staged(volume);
  for (const directory of [staged, block.data('v')]) {
    mkdirSync(directory, { recursive: true });
    await writeVolumeData(directory, { driverName: DRIVER, volumeHandle: directory === staged ? 'h' : 'b' });
  }
  return {
    ...{ inUse, staged, unstaged, errors, pods, root: join(rootDir, 'plugins/kubernetes.io/csi') },
    volumes: new CsiVolumes({ ...parts, places } as unknown as CsiVolumesOptions),
    blockVolumes: new CsiBlockVolumes({
      ...{ ...parts, places: block },
      maps: {},
    } as unknown as CsiBlockVolumesOptions),
  };
}

test('what is staged is in use though what somebody else has left there cannot be removed', async (context) => {
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

/** As a disk that fails and one that lost what was written leave it. */
const unreadable = (directory: string) => mkdirSync(join(directory, 'vol_data.json'), { recursive: true });
function garbled(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'vol_data.json'), '{"driverName":"d.ex');
}

for (const when of ['before', 'after'] as const)
  test(`what cannot be read hides nothing: all that the node object has in use stays so, known ${when} the look`, async (context) => {
    const node = await newNode(context);
    const bad = [
      join(node.root, DRIVER, 'bad'),
      join(node.root, 'volumeDevices/bad/data'),
      node.pods.volume('p', 'kubernetes.io/csi', 'bad'),
    ];
    unreadable(bad[0]!);
    for (const directory of bad.slice(1)) garbled(directory);
    if (when === 'before') node.inUse.reported(['told', KEY], []);
    await node.volumes.load();
    await node.blockVolumes.load();
    if (when === 'after') node.inUse.reported(['told', KEY], []);
    assert.deepEqual(node.inUse.names(), [`kubernetes.io/csi/${DRIVER}^b`, KEY, 'told']);
    assert.deepEqual(node.errors.map(({ directory }) => directory).sort(), bad.sort());
    const [garbage, failed] = ['/bad/vol_data.json is no JSON object', '/bad/vol_data.json: it is a directory'];
    for (const why of [garbage, failed])
      assert.ok(
        node.errors.some(({ error }) => error.includes(why)),
        JSON.stringify(node.errors),
      );
    node.inUse.free('told');
    node.inUse.reported(['told', KEY], []);
    assert.equal(node.inUse.names().includes('told'), false, 'only what was told first is kept');
  });

test('what cannot be read of a staged volume holds up the end of no other', async (context) => {
  const node = await newNode(context);
  unreadable(join(node.root, DRIVER, 'bad'));
  await node.volumes.load();
  await node.volumes.tearDown('p');
  assert.deepEqual([node.unstaged, node.inUse.names()], [['h'], []]);
});

test('while it cannot be read what a pod has, nothing is unstaged that it may be, and the pod says so where it is mounted', async (context) => {
  const node = await newNode(context, { isMountPoint: async (path) => path.includes('/pods/p/') });
  const bad = node.pods.volume('p', 'kubernetes.io/csi', 'bad');
  garbled(bad);
  await node.volumes.load();
  await node.volumes.tearDown('another');
  assert.deepEqual([node.unstaged, node.inUse.names()], [[], [KEY]]);
  await assert.rejects(
    node.volumes.tearDown('p'),
    /^PodwrightError: UnmountVolume.TearDown failed for volume "bad" : .*vol_data.json is no JSON object/,
  );
});

test('volumes that cannot be listed stay in use, and stay where they are', async (context) => {
  const node = await newNode(context);
  await node.volumes.load();
  const place = node.pods.volume('p', 'kubernetes.io/csi', 'v');
  node.inUse.want(place, KEY, { attachable: true });
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

test('what cannot be read of a pod goes with it where nothing is mounted', async (context) => {
  const node = await newNode(context);
  await node.volumes.load();
  const bad = node.pods.volume('p', 'kubernetes.io/csi', 'bad');
  garbled(bad);
  await node.volumes.tearDown('another');
  assert.deepEqual([node.unstaged, node.errors.map(({ directory }) => directory)], [[], [bad]]);
  await node.volumes.tearDown('p');
  assert.deepEqual([existsSync(bad), node.unstaged, node.inUse.names()], [false, ['h'], []]);
});

test('a block volume that cannot be read stays with its pod', async (context) => {
  const node = await newNode(context);
  garbled(join(node.root, 'volumeDevices/v/data'));
  const link = node.pods.volumeDevice('p', 'kubernetes.io/csi', 'v');
  mkdirSync(dirname(link), { recursive: true });
  writeFileSync(link, '');
  const why = /UnmapVolume.UnmapPodDevice failed for volume "v" : .*vol_data.json is no JSON object/;
  await assert.rejects(node.blockVolumes.tearDown('p'), why);
});

test('somebody’s files beside volumes stay, and hold nothing up', async (context) => {
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

test('a volume that is noted while it is looked at stays noted', async (context) => {
  const note = (path: string) => writeVolumeData(dirname(path), { driverName: DRIVER, volumeHandle: 'late' });
  const node = await newNode(context, { isMountPoint: (path) => note(path).then(() => false) });
  const late = join(node.root, DRIVER, 'late');
  mkdirSync(late);
  await node.volumes.load();
  assert.equal(existsSync(join(late, 'vol_data.json')), true);
});

for (const kind of ['volumes', 'blockVolumes'] as const)
  test(`${kind}: while one pod waits until a volume is attached, the end of another waits for nothing`, async (context) => {
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
