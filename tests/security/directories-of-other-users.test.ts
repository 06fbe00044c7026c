/** Another user creates the directories in /tmp and /var/tmp that the tests use or clear. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { csiDirectory } from '../kubelet/csi-driver.fixture.ts';

const NOBODY = 65_534;
const scratch = mkdtempSync(join(tmpdir(), 'podwright-others-'));
after(() => rmSync(scratch, { recursive: true }));

function directoryOf(path: string, user: number): string {
  mkdirSync(join(path, 'content'), { recursive: true });
  chownSync(path, user, user);
  return path;
}

test('directories of other users are not cleared, regardless of their names', () => {
  // a PID larger than any process can have, so that the directory seems to be left over
  const leftBy = (name: string) => join(tmpdir(), `pwk-csi-99999999-${process.pid}${name}`);
  const own = directoryOf(leftBy('own'), 0);
  const other = directoryOf(leftBy('other'), NOBODY);
  const link = leftBy('link');
  symlinkSync(directoryOf(join(scratch, 'led-to'), 0), link);
  try {
    csiDirectory();
    assert.deepEqual([existsSync(own), readdirSync(other), readdirSync(link)], [false, ['content'], ['content']]);
  } finally {
    for (const path of [own, other, link]) rmSync(path, { recursive: true, force: true });
  }
});

test('a virtual machine is not started from a directory writable by other users', () => {
  const link = join(scratch, 'link');
  symlinkSync(directoryOf(join(scratch, 'own'), 0), link);
  const open = directoryOf(join(scratch, 'open'), 0);
  chmodSync(open, 0o777);
  for (const path of [directoryOf(join(scratch, 'other'), NOBODY), link, open]) {
    const env = { ...process.env, PODWRIGHT_VM_DIR: path };
    const { status, stderr } = spawnSync('bash', ['tests/vm/run.sh', 'true'], {
      env,
      encoding: 'utf8',
      timeout: 20_000,
    });
    assert.match(stderr, new RegExp(`^${path}: must be your own directory`));
    assert.deepEqual([status, readdirSync(path)], [1, ['content']]);
  }
});
