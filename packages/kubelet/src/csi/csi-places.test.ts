import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '@podwright/base';
import type { Pod } from '../api/types.ts';
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
  const parts = {
    ...{ inUse, nodeName: 'n', logger: silentLogger, driversKnown: Promise.resolve() },
    ...{ drivers: { has: () => true }, objects: { driver: async () => undefined } },
  };
  const places = new CsiPlaces(shared);
  const block = new CsiBlockPlaces(shared);
  const staged = places.staged(volume);
  for (const directory of [staged, block.data('v')]) {
    mkdirSync(directory, { recursive: true });
    await writeVolumeData(directory, { driverName: DRIVER, volumeHandle: directory === staged ? 'h' : 'b' });
  }
  return {
    ...{ inUse, staged, root: join(rootDir, 'plugins/kubernetes.io/csi') },
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
