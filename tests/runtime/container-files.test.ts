import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { Trash } from '@podwright/host';
import { loadSystem, mountFlags, unmountTree } from '@podwright/system';
import { ContainerFiles } from '../../packages/runtime/src/containers/container-files.ts';

test('the directories of a removed container are moved away at once, and nothing behind a mount in them is touched', async (t) => {
  const place = mkdtempSync('/tmp/pwt-files-');
  const system = loadSystem();
  t.after(() => {
    unmountTree(system, place);
    rmSync(place, { recursive: true });
  });
  const [root, state, volume] = [join(place, 'root'), join(place, 'state'), join(place, 'volume')];
  const bin = join(state, 'trash');
  const [trash, stateTrash] = [new Trash(join(root, 'trash'), silentLogger), new Trash(bin, silentLogger)];
  const snapshotter = { list: async () => [] } as never;
  const files = ContainerFiles.open({ system, snapshotter, trash, stateTrash, root, state });
  mkdirSync(volume);
  writeFileSync(join(volume, 'data'), 'of a volume');
  const check = async (id: string, below: string, left: number) => {
    for (const path of [files.bundle(id), join(files.rootfs(id), below)]) mkdirSync(path, { recursive: true });
    writeFileSync(join(files.bundle(id), 'config.json'), '{}');
    system.mount(join(files.rootfs(id), below), { source: volume, flags: mountFlags.bind });
    await files.remove(id);
    assert.deepEqual(await files.list(), []);
    await stateTrash.empty();
    assert.equal(readdirSync(bin).length, left);
    assert.equal(readFileSync(join(volume, 'data'), 'utf8'), 'of a volume');
  };
  await check('a'.repeat(64), '.', 0); // the mount of a root file system is unmounted
  await check('b'.repeat(64), 'an/unknown/mount', 1);
  await Promise.all([trash.close(), stateTrash.close()]);
  assert.ok(!existsSync(files.bundle('b'.repeat(64))));
});
