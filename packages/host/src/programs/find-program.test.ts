import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findProgram, programDirectories, requireProgram } from './find-program.ts';

function makeDirectories(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'podwright-programs-'));
  t.after(() => rmSync(root, { recursive: true }));
  const [first, second] = ['first', 'second'].map((name) => join(root, name)) as [string, string];
  for (const directory of [first, second]) mkdirSync(directory);
  writeFileSync(join(second, 'tool'), '', { mode: 0o755 });
  return { first, second };
}

test('the first directory with an executable of that name wins', (t) => {
  const { first, second } = makeDirectories(t);
  mkdirSync(join(first, 'tool'));
  assert.equal(findProgram('tool', [first, second]), join(second, 'tool'), 'a directory is not a program');
  rmSync(join(first, 'tool'), { recursive: true });
  writeFileSync(join(first, 'tool'), '', { mode: 0o644 });
  assert.equal(findProgram('tool', [first, second]), join(second, 'tool'), 'nor is a file that is not executable');
  assert.equal(findProgram('other', [first, second]), undefined);
});

test('an absolute path is used unchanged if it is a program', (t) => {
  const { first, second } = makeDirectories(t);
  assert.equal(findProgram(join(second, 'tool'), [first]), join(second, 'tool'));
  assert.equal(findProgram(join(first, 'tool'), [second]), undefined);
});

test('programs are searched in PATH, then in the system directories, each once, ignoring relative PATH entries', (t) => {
  const { PATH } = process.env;
  t.after(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = 'bin::/opt/bin:/usr/bin';
  assert.deepEqual(programDirectories(), [
    '/opt/bin',
    '/usr/bin',
    '/usr/local/sbin',
    '/usr/local/bin',
    '/usr/sbin',
    '/sbin',
    '/bin',
  ]);
});

test('the error for a missing program says what to install', () => {
  assert.throws(() => requireProgram('no-such-tool'), {
    code: 'failed_precondition',
    message: /no-such-tool.*install/,
  });
});
