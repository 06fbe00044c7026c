import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { MountEntry } from '@podwright/system/mountinfo';
import { heldFiles, placesOf } from './held-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-held-'));
after(() => rmSync(directory, { recursive: true }));

/** Opens a file of this size, and deletes it if `deleted`. */
function opened(name: string, sizeBytes: number, { deleted = true } = {}): number {
  const path = join(directory, name);
  writeFileSync(path, Buffer.alloc(sizeBytes, 'x'));
  const file = openSync(path, 'r');
  if (deleted) rmSync(path);
  return file;
}

test('each deleted file of a process counts once, and no other files do', async (context) => {
  const before = await heldFiles([process.pid], () => ({ directory: 'layers' }));
  const files = [opened('a', 100_000), opened('b', 200_000), opened('c', 400_000, { deleted: false })];
  files.push(openSync(`/proc/self/fd/${files[0]}`, 'r'));
  files.push(opened('d (deleted)', 800_000, { deleted: false }));
  context.after(() => {
    for (const file of files) closeSync(file);
  });
  const { layers, kubelet, emptyDirs } = await heldFiles([process.pid, process.pid], () => ({ directory: 'layers' }));
  const bytes = layers.bytes - before.layers.bytes;
  assert.ok(bytes >= 300_000 && bytes < 400_000, `${bytes} bytes`);
  assert.equal(layers.inodes - before.layers.inodes, 2);
  assert.deepEqual([kubelet, emptyDirs], [{ bytes: 0, inodes: 0 }, new Map()]);
});

test('searching the files of many processes does not block the event loop', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await heldFiles(Array<number>(15_000).fill(2 ** 30), () => undefined);
  clearInterval(timer);
  assert.ok(turns > 3, `${turns} turns`);
});

test('an exited process holds nothing', async () => {
  const { layers } = await heldFiles([2 ** 30], () => ({ directory: 'layers' }));
  assert.deepEqual(layers, { bytes: 0, inodes: 0 });
});

test("a held file belongs to a pod's layers or to its kubelet directory, or is not the pod's", () => {
  const placeOf = placesOf({ podUid: 'uid', containerIds: ['c1', 'c2'] });
  const check = (mount: { root?: string; type?: string; mountPoint?: string }, ...expected: (string | undefined)[]) => {
    const place = placeOf({ root: '/', type: 'ext4', mountPoint: '/data', ...mount } as MountEntry);
    assert.deepEqual([place?.directory, place?.emptyDir].slice(0, expected.length), expected);
  };
  check({ root: '/var/lib/kubelet/pods/uid/volumes/kubernetes.io~empty-dir/data' }, 'kubelet', 'data');
  check({ root: '/pods/uid/volumes/kubernetes.io~configmap/data' }, 'kubelet', undefined);
  check({ root: '/pods/uid/etc-hosts', mountPoint: '/etc/hosts' }, 'kubelet');
  check({ root: '/runtime/containers/c2/volume-0' }, 'layers');
  check({ type: 'overlay', mountPoint: '/' }, 'layers');
  check({ root: '/snapshots/7/fs', mountPoint: '/' }, 'layers');
  check({ root: '/srv/data' }, undefined); // a hostPath
  check({ root: '/kubelet/pods/another/volumes/kubernetes.io~empty-dir/data' }, undefined);
  check({ type: 'tmpfs', mountPoint: '/dev/shm' }, undefined);
});
