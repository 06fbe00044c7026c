/**
 * The directories of sandboxes: container-writable files are kept out of the state directory, and directories created by earlier versions
 * remain valid.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { SandboxRecord } from '../../packages/runtime/src/records/sandbox-record.ts';
import { SandboxDirectories } from '../../packages/runtime/src/sandbox/sandbox-directories.ts';
import { loadSystem } from '../../packages/system/src/system.ts';

const sandbox = {
  id: 'ab'.repeat(32),
  config: { hostname: 'web', network: 'pod', ipc: 'pod', dns: { servers: ['10.0.0.1'], searches: [], options: [] } },
} as unknown as SandboxRecord;

function open(t: TestContext) {
  const directory = mkdtempSync('/tmp/pwt-directories-');
  t.after(() => rmSync(directory, { recursive: true }));
  const place = { root: join(directory, 'root'), state: join(directory, 'state') };
  return { directories: SandboxDirectories.open({ system: loadSystem(), ...place }), ...place };
}

test('a sandbox has only its shared memory in the state directory, and both directories are removed', async (t) => {
  const { directories, root, state } = open(t);
  await directories.make(sandbox);
  const { files, shm } = directories.paths(sandbox);
  assert.deepEqual(readdirSync(directories.path(sandbox.id)), ['shm']);
  assert.ok(shm.startsWith(`${state}/`), shm);
  for (const path of Object.values(files)) assert.ok(path.startsWith(`${root}/`), path);
  assert.deepEqual(await directories.list(), [sandbox.id]);
  directories.remove(sandbox.id);
  directories.remove(sandbox.id); // removing again is not an error
  assert.deepEqual(
    [await directories.list(), readdirSync(`${root}/sandboxes`), readdirSync(`${state}/sandboxes`)],
    [[], [], []],
  );
});

test('after a reboot, which empties the state directory, files under the root directory are found and removed', async (t) => {
  const { directories, root, state } = open(t);
  await directories.make(sandbox);
  directories.unmount(sandbox.id);
  rmSync(state, { recursive: true });
  const again = SandboxDirectories.open({ system: loadSystem(), root, state });
  assert.deepEqual(await again.list(), [sandbox.id]);
  again.remove(sandbox.id);
  assert.deepEqual(readdirSync(`${root}/sandboxes`), []);
});

test('a sandbox from an earlier version keeps using its files next to the shared memory', async (t) => {
  const { directories } = open(t);
  await directories.make(sandbox);
  const { files } = directories.paths(sandbox);
  for (const path of Object.values(files))
    renameSync(path, join(directories.path(sandbox.id), path.slice(path.lastIndexOf('/'))));
  rmdirSync(dirname(files.hosts));
  const earlier = directories.paths(sandbox).files;
  for (const path of Object.values(earlier)) assert.equal(dirname(path), directories.path(sandbox.id));
  await directories.setAddresses(sandbox, ['10.0.0.2']);
  assert.match(readFileSync(earlier.hosts, 'utf8'), /^10\.0\.0\.2\tweb$/m);
  directories.remove(sandbox.id);
  assert.ok(!existsSync(directories.path(sandbox.id)));
});
