import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { readSelinuxContexts, relabel } from './selinux.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-selinux-'));
const called = join(directory, 'called');
const path = process.env.PATH;
beforeEach(() => rmSync(called, { force: true }));
afterEach(() => {
  process.env.PATH = path;
});
after(() => rmSync(directory, { recursive: true }));

/** Prepends a fake chcon(1) to PATH. It records its arguments and then runs `then`. */
function fakeChcon(then: string): void {
  const program = join(directory, 'chcon');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > ${called}\n${then}\n`);
  chmodSync(program, 0o755);
  process.env.PATH = `${directory}:${path}`;
}

const LABEL = 'system_u:object_r:container_file_t:s0:c1,c2';

test('a volume is relabeled recursively, and its path is never parsed as an option', async () => {
  fakeChcon('exit 0');
  await relabel('/data/-R', LABEL);
  assert.deepEqual(readFileSync(called, 'utf8').trimEnd().split('\n'), ['--recursive', '--', LABEL, '/data/-R']);
});

test('without a label nothing is changed', async () => {
  fakeChcon('exit 0');
  await relabel('/data', '');
  assert.equal(existsSync(called), false);
});

test('directories required by the host keep their labels', async () => {
  fakeChcon('exit 0');
  for (const needed of ['/', '/etc', '/usr', '/var/lib', '/home']) {
    await assert.rejects(relabel(needed, LABEL), { code: 'invalid_argument' });
  }
  assert.equal(existsSync(called), false);
  await relabel('/etc/app', LABEL);
});

test('a file system without label support is ignored, and any other failure is an error', async () => {
  fakeChcon('echo "chcon: failed to change context: Operation not supported" >&2; exit 1');
  await relabel('/data', LABEL);
  fakeChcon('echo "chcon: invalid context" >&2; exit 1');
  await assert.rejects(relabel('/data', LABEL), {
    code: 'internal',
    message: /the SELinux label .*: chcon: invalid context$/,
  });
});

test('there are no contexts if SELinux is disabled', async () => {
  assert.deepEqual(await readSelinuxContexts(false), { process: '', file: '' });
});
