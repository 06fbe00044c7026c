/** The tests of the `Snapshotter` contract. They require root, because they mount file systems. */
import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { errorCode } from '@podwright/base';
import { type Mount, mountAll, type System, unmountTree } from '@podwright/system';
import type { Snapshotter } from './snapshotter.ts';

/** Opens the snapshotter under test, either in a new directory or again in the directory of an earlier instance, as after a restart. */
export type SnapshotterFactory = {
  open(root: string): Snapshotter | Promise<Snapshotter>;
  system: System;
  scratch: () => string;
};

export function snapshotterSuite(name: string, factory: SnapshotterFactory): void {
  const { system } = factory;
  let scratch: string;
  let snapshotter: Snapshotter;

  const rejectsWith = (code: string, work: Promise<unknown>) =>
    assert.rejects(work, (error) => {
      assert.equal(errorCode(error), code);
      return true;
    });

  /** Mounts `mounts` on a temporary directory and calls `work` with its path. */
  function mounted<T>(mounts: Mount[], work: (path: string) => T): T {
    const target = join(scratch, 'mnt');
    mkdirSync(target, { recursive: true });
    mountAll(system, mounts, target);
    try {
      return work(target);
    } finally {
      unmountTree(system, target);
    }
  }

  const read = (mounts: Mount[], path: string) => mounted(mounts, (at) => readFileSync(join(at, path), 'utf8'));

  /** Commits a layer that contains these files, under the key `key` and on top of `parent`. */
  async function layer(key: string, parent: string, files: Record<string, string>): Promise<void> {
    mounted(await snapshotter.prepare(`filling ${key}`, parent), (at) => {
      for (const [path, content] of Object.entries(files)) writeFileSync(join(at, path), content);
    });
    await snapshotter.commit(key, `filling ${key}`);
  }

  suite(`snapshotter ${name}`, () => {
    beforeEach(async () => {
      scratch = factory.scratch();
      snapshotter = await factory.open(join(scratch, 'root'));
    });

    afterEach(async () => {
      await snapshotter.close();
      unmountTree(system, scratch);
      rmSync(scratch, { recursive: true, force: true });
    });

    test('an active snapshot shows the merged layers, the upper over the lower', async () => {
      await layer('base', '', { a: 'base a', b: 'base b' });
      await layer('top', 'base', { b: 'top b', c: 'top c' });
      const mounts = await snapshotter.prepare('active', 'top');
      assert.equal(read(mounts, 'a'), 'base a');
      assert.equal(read(mounts, 'b'), 'top b');
      assert.equal(read(mounts, 'c'), 'top c');
    });

    test('writing to an active snapshot changes nothing below it', async () => {
      await layer('base', '', { a: 'base' });
      const first = await snapshotter.prepare('first', 'base');
      mounted(first, (at) => {
        writeFileSync(join(at, 'a'), 'changed');
        mkdirSync(join(at, 'new'));
      });
      assert.equal(read(first, 'a'), 'changed');
      assert.equal(read(await snapshotter.prepare('second', 'base'), 'a'), 'base');
      assert.equal(existsSync(join(await snapshotter.layerDirectory('base'), 'new')), false);
    });

    test('a file that is deleted in a layer is not visible above it', async () => {
      await layer('base', '', { deleted: 'x', other: 'y' });
      mounted(await snapshotter.prepare('deleting', 'base'), (at) => rmSync(join(at, 'deleted')));
      await snapshotter.commit('deleted', 'deleting');
      const names = mounted(await snapshotter.view('view', 'deleted'), (at) => readdirSync(at));
      assert.deepEqual(names, ['other']);
    });

    test('a view is read-only, with no, one or several layers', async () => {
      await layer('base', '', { a: '1' });
      await layer('top', 'base', { b: '2' });
      for (const parent of ['', 'base', 'top']) {
        mounted(await snapshotter.view(`view of ${parent}`, parent), (at) => {
          assert.throws(() => writeFileSync(join(at, 'x'), ''), { code: 'EROFS' });
        });
      }
    });

    test('the root directory has the mode and owner of that of the layer below', async () => {
      mounted(await snapshotter.prepare('filling', ''), (at) => system.setXattr(at, 'user.probe', Buffer.from('1')));
      const directory = await snapshotter.layerDirectory('filling');
      const { chmodSync, chownSync } = await import('node:fs');
      chownSync(directory, 12, 34);
      chmodSync(directory, 0o1750);
      await snapshotter.commit('base', 'filling');
      const stat = mounted(await snapshotter.prepare('active', 'base'), (at) => lstatSync(at));
      assert.deepEqual([stat.uid, stat.gid, stat.mode & 0o7777], [12, 34, 0o1750]);
    });

    test('mounts returns the same mounts as prepare, and they can be mounted again', async () => {
      await layer('base', '', {});
      const mounts = await snapshotter.prepare('active', 'base');
      mounted(mounts, (at) => writeFileSync(join(at, 'x'), 'once'));
      const again = await snapshotter.mounts('active');
      assert.deepEqual(again, mounts);
      assert.equal(read(again, 'x'), 'once');
    });

    test('keys are unique', async () => {
      await layer('base', '', {});
      await snapshotter.prepare('active', 'base');
      await rejectsWith('already_exists', snapshotter.prepare('active', 'base'));
      await rejectsWith('already_exists', snapshotter.view('base', ''));
      await rejectsWith('already_exists', snapshotter.commit('base', 'active'));
      const outcomes = await Promise.allSettled([
        snapshotter.prepare('twice', 'base'),
        snapshotter.prepare('twice', 'base'),
      ]);
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    });

    test('verbs reject with not_found for missing snapshots', async () => {
      await rejectsWith('not_found', snapshotter.prepare('x', 'nothing'));
      await rejectsWith('not_found', snapshotter.commit('y', 'nothing'));
      for (const verb of ['mounts', 'stat', 'usage', 'remove', 'layerDirectory', 'unpackTarget'] as const) {
        await rejectsWith('not_found', snapshotter[verb]('nothing'));
      }
      await rejectsWith('invalid_argument', snapshotter.prepare('', ''));
    });

    test('only committed snapshots can be parents, and only active ones can be committed or unpacked into', async () => {
      await layer('base', '', {});
      await snapshotter.prepare('active', 'base');
      await snapshotter.view('view', 'base');
      await rejectsWith('failed_precondition', snapshotter.prepare('x', 'active'));
      await rejectsWith('failed_precondition', snapshotter.view('x', 'view'));
      await rejectsWith('failed_precondition', snapshotter.commit('x', 'view'));
      await rejectsWith('failed_precondition', snapshotter.commit('x', 'base'));
      await rejectsWith('failed_precondition', snapshotter.mounts('base'));
      await rejectsWith('failed_precondition', snapshotter.unpackTarget('base'));
    });

    test('a snapshot with children cannot be removed', async () => {
      await layer('base', '', { a: '1' });
      await snapshotter.prepare('child', 'base');
      await rejectsWith('failed_precondition', snapshotter.remove('base'));
      await snapshotter.remove('child');
      await snapshotter.remove('base');
      assert.deepEqual(await snapshotter.list(), []);
    });

    test('stat and list return kind, parent and time of creation', async () => {
      const before = Date.now();
      await layer('base', '', {});
      await snapshotter.view('view', 'base');
      const { createdAtMs, ...info } = await snapshotter.stat('view');
      assert.deepEqual(info, { key: 'view', kind: 'view', parent: 'base' });
      assert.ok(createdAtMs >= before && createdAtMs <= Date.now());
      assert.deepEqual((await snapshotter.list()).map(({ key }) => key).sort(), ['base', 'view']);
    });

    test('usage counts only the snapshot itself', async () => {
      await layer('base', '', { a: 'x'.repeat(100_000) });
      const base = await snapshotter.usage('base');
      assert.ok(base.sizeBytes >= 100_000 && base.sizeBytes < 140_000, `${base.sizeBytes} bytes`);
      assert.equal(base.inodes, 2);
      mounted(await snapshotter.prepare('active', 'base'), (at) => writeFileSync(join(at, 'b'), 'y'.repeat(50_000)));
      const before = await snapshotter.usage('active');
      mounted(await snapshotter.mounts('active'), (at) => writeFileSync(join(at, 'c'), 'z'.repeat(50_000)));
      const after = await snapshotter.usage('active');
      assert.equal(after.inodes, before.inodes + 1);
      assert.ok(after.sizeBytes - before.sizeBytes >= 50_000);
    });

    test('snapshots survive a restart', async () => {
      await layer('base', '', { a: 'kept' });
      await snapshotter.prepare('active', 'base');
      const before = await snapshotter.list();
      const mounts = await snapshotter.mounts('active');
      await snapshotter.close();
      snapshotter = await factory.open(join(scratch, 'root'));
      assert.deepEqual(await snapshotter.list(), before);
      assert.deepEqual(await snapshotter.mounts('active'), mounts);
      assert.equal(read(mounts, 'a'), 'kept');
    });
  });
}
