import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { openSnapshotter } from '../../packages/images/src/snapshots/open-snapshotter.ts';
import { snapshotterSuite } from '../../packages/images/src/snapshots/snapshotter.suite.ts';
import type { Snapshotter } from '../../packages/images/src/snapshots/snapshotter.ts';
import { openDatabase } from '../../packages/metadata/src/database.ts';
import { unmountTree } from '../../packages/system/src/mountinfo.ts';
import { mountAll } from '../../packages/system/src/mounts.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { SmallDisk } from '../fixtures/small-disk.ts';
import { makeScratch, openRecords } from './scratch.ts';

const system = loadSystem();

function open(root: string): Snapshotter {
  mkdirSync(root, { recursive: true });
  const database = openRecords(root);
  return openSnapshotter({ kind: 'overlayfs', root, database, system, logger: silentLogger }).snapshotter;
}

snapshotterSuite('overlayfs', { open, system, scratch: makeScratch });

test('an image with 400 layers is mounted with its layers in the right order', async () => {
  const scratch = makeScratch();
  // the long root makes the mount options longer than a page, which is mount(2)'s limit
  const root = join(scratch, 'a-long-name-of-a-directory'.repeat(3));
  const snapshotter = open(root);
  try {
    let parent = '';
    for (let layer = 1; layer <= 400; layer++) {
      await snapshotter.prepare('filling', parent);
      const directory = await snapshotter.layerDirectory('filling');
      writeFileSync(join(directory, `file-${layer}`), '');
      writeFileSync(join(directory, 'last'), String(layer));
      parent = `layer ${layer}`;
      await snapshotter.commit(parent, 'filling');
    }
    const target = join(scratch, 'mnt');
    mkdirSync(target);
    mountAll(system, await snapshotter.prepare('container', parent), target);
    assert.equal(readFileSync(join(target, 'last'), 'utf8'), '400');
    for (let layer = 1; layer <= 400; layer++) assert.ok(existsSync(join(target, `file-${layer}`)));
    writeFileSync(join(target, 'last'), 'changed');
  } finally {
    await snapshotter.close();
    unmountTree(system, scratch);
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('containers are mounted volatile, so that unmounting does not sync the whole file system', async () => {
  const scratch = makeScratch();
  const snapshotter = open(join(scratch, 'root'));
  try {
    await snapshotter.prepare('filling', '');
    await snapshotter.commit('base', 'filling');
    const [mount] = await snapshotter.prepare('container', 'base');
    assert.ok(mount!.options.includes('volatile'), mount!.options.join(','));
  } finally {
    await snapshotter.close();
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('if overlayfs cannot work on a root, the error has the reason, and auto falls back to copies', async () => {
  const scratch = makeScratch();
  const root = join(scratch, 'with:colon');
  mkdirSync(root);
  const database = openDatabase(join(scratch, 'records.db'));
  const options = { root, database, system, logger: silentLogger };
  try {
    assert.throws(() => openSnapshotter({ ...options, kind: 'overlayfs' }), {
      code: 'failed_precondition',
      message: /does not support the colon.*choose the native snapshotter/,
    });
    const { snapshotter, reason } = openSnapshotter({ ...options, kind: 'auto' });
    assert.equal(snapshotter.name, 'native');
    assert.match(reason, /^native copies, which are slow and big: /);
    await snapshotter.close();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('auto prefers overlayfs, and the probe leaves nothing behind', async () => {
  const scratch = makeScratch();
  const root = join(scratch, 'root');
  mkdirSync(root);
  const database = openDatabase(join(scratch, 'records.db'));
  try {
    const { snapshotter, reason } = openSnapshotter({ kind: 'auto', root, database, system, logger: silentLogger });
    assert.equal(snapshotter.name, 'overlayfs');
    assert.match(reason, /^overlayfs works on /);
    assert.equal(existsSync(join(root, 'probe')), false);
    closeSync(openSync(root, 'r'));
    assert.equal(statSync(root).nlink, 3); // itself, its entry, and the snapshotter's directory
    await snapshotter.close();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('while there is no space to test overlayfs, a root keeps its previous snapshotter', async () => {
  const scratch = makeScratch();
  const disk = new SmallDisk(join(scratch, 'disk'), 'ext4');
  const database = openDatabase(join(scratch, 'records.db'));
  const openIn = (name: string, kind: 'auto' | 'overlayfs') =>
    openSnapshotter({ kind, root: join(disk.path, name), database, system, logger: silentLogger }).snapshotter;
  try {
    for (const name of ['overlayfs', 'native/native/trash', 'new'])
      mkdirSync(join(disk.path, name), { recursive: true });
    const first = openIn('overlayfs', 'auto');
    await first.prepare('filling', '');
    await first.commit('base', 'filling');
    const mounts = await first.prepare('container', 'base');
    await first.close();
    disk.fill();
    for (const kind of ['auto', 'overlayfs'] as const) {
      const again = openIn('overlayfs', kind);
      assert.equal(again.name, 'overlayfs');
      assert.deepEqual(await again.mounts('container'), mounts);
      await again.close();
    }
    const native = openIn('native', 'auto');
    assert.equal(native.name, 'native');
    await native.close();
    for (const [name, kind] of [
      ['new', 'auto'],
      ['new', 'overlayfs'],
      ['native', 'overlayfs'],
    ] as const)
      assert.throws(() => openIn(name, kind), {
        code: 'resource_exhausted',
        message: /no space left.*free some disk space$/,
      });
  } finally {
    disk.remove();
    rmSync(scratch, { recursive: true, force: true });
  }
});
