/** An image declares volumes that contain a great many files: copying them stops when the call is canceled, and leaves nothing behind. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, sleep, waitFor } from '@podwright/base';
import { Trash } from '@podwright/host';
import { ContainerFiles } from '../../packages/runtime/src/containers/container-files.ts';
import { loadSystem } from '../../packages/system/src/system.ts';

const FILES = 20_000;

test('copying a volume stops at its deadline, and the copied files are removed with the container', async (t) => {
  const directory = mkdtempSync('/tmp/pwt-volumes-');
  t.after(() => rmSync(directory, { recursive: true }));
  const [root, state] = [join(directory, 'root'), join(directory, 'state')];
  const trash = new Trash(join(root, 'trash'), silentLogger);
  const snapshotter = { list: async () => [] } as never;
  const files = ContainerFiles.open({ system: loadSystem(), snapshotter, trash, stateTrash: trash, root, state });
  const id = 'ab'.repeat(32);
  const source = join(files.rootfs(id), 'v');
  mkdirSync(source, { recursive: true });
  execFileSync('sh', ['-c', `seq ${FILES} | xargs touch`], { cwd: source });
  const copied = () => readdirSync(files.volume(id, 0)).length;

  const controller = new AbortController();
  const copying = files.makeVolumes(id, { paths: ['/v'], signal: controller.signal });
  const ended = assert.rejects(copying, /no time left/);
  const hasBegun = () => (existsSync(files.volume(id, 0)) && copied() > 0) || undefined;
  await waitFor(hasBegun, { intervalMs: 1, signal: AbortSignal.timeout(30_000) });
  controller.abort(new Error('no time left'));
  await ended;
  const count = copied();
  assert.ok(count < FILES, `${count} files were copied`);
  await sleep(100);
  assert.equal(copied(), count, 'the copy has stopped');

  rmSync(join(state, 'containers', id), { recursive: true });
  await files.remove(id);
  await trash.close();
  assert.deepEqual(readdirSync(join(root, 'containers')), []);
});
