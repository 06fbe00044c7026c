import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../../../base/src/deadline.ts';
import { silentLogger } from '../../../base/src/log.ts';
import { removeTree } from './remove-tree.ts';
import { isTrashBusy, Trash } from './trash.ts';

function scratch(t: TestContext): string {
  const directory = mkdtempSync('/tmp/podwright-remove-');
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Creates nested directories with a file in each, so deep that the path of the innermost exceeds the kernel's PATH_MAX. */
function makeDeep(directory: string, levels: number): void {
  const script = `
    const { mkdirSync, writeFileSync } = require('node:fs');
    for (const name of [${JSON.stringify(directory)}, ...Array(${levels}).fill('a'.repeat(15))]) {
      mkdirSync(name);
      process.chdir(name);
      writeFileSync('file', '');
    }`;
  execFileSync(process.execPath, ['-e', script]);
}

test('removeTree removes a file, or a tree with arbitrary bytes in names; a missing path is not an error', async (t) => {
  const root = join(scratch(t), 'root');
  mkdirSync(join(root, 'a/b/c'), { recursive: true });
  writeFileSync(join(root, 'a/file'), '');
  writeFileSync(Buffer.concat([Buffer.from(`${root}/a/`), Buffer.from([0xff, 0xfe, 0x0a])]), '');
  execFileSync('mkfifo', [join(root, 'a/b/fifo')]);
  await removeTree(root);
  assert.ok(!existsSync(root));
  await removeTree(root);
  writeFileSync(root, '');
  await removeTree(root);
  assert.ok(!existsSync(root));
});

test('removing an impossible path, such as an overlong name or one under a file, is not an error', async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, 'file'), '');
  const trash = new Trash(join(root, 'trash'), silentLogger);
  for (const path of ['n'.repeat(256), 'file/below', 'not/there', `${'n/'.repeat(2100)}n`]) {
    await removeTree(join(root, path));
    trash.throwAway(join(root, path));
  }
  await trash.close();
  assert.deepEqual(readdirSync(root).sort(), ['file', 'trash']);
});

test('a trash is busy until its trees are deleted, and continues deletions that take more than one turn', async (t) => {
  const root = scratch(t);
  execFileSync('sh', ['-c', 'mkdir large; cd large; seq 3000 | xargs touch'], { cwd: root });
  const trash = new Trash(join(root, 'trash'), silentLogger, { turnMs: 20 });
  t.after(() => trash.close());
  assert.ok(!isTrashBusy());
  trash.throwAway(join(root, 'large'));
  assert.ok(isTrashBusy());
  await waitFor(() => !isTrashBusy() || undefined, { intervalMs: 5, signal: AbortSignal.timeout(20_000) });
  assert.deepEqual(readdirSync(join(root, 'trash')), []);
});

test('a tree deeper than PATH_MAX is removed, even with several deep branches', async (t) => {
  const root = join(scratch(t), 'root');
  makeDeep(root, 400);
  for (const name of ['one', 'two']) makeDeep(join(root, name), 40);
  await removeTree(root);
  assert.ok(!existsSync(root));
});

test('removing a directory with very many entries does not block the event loop', async (t) => {
  const root = join(scratch(t), 'root');
  execFileSync('sh', ['-c', 'mkdir "$0"; cd "$0"; seq 20000 | xargs touch', root]);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await removeTree(root);
  clearInterval(timer);
  assert.ok(turns > 10, `${turns} turns`);
  assert.ok(!existsSync(root));
});

test('symlinks are removed, but not their targets', async (t) => {
  const directory = scratch(t);
  const root = join(directory, 'root');
  mkdirSync(join(directory, 'precious'));
  writeFileSync(join(directory, 'precious/file'), 'x');
  mkdirSync(root);
  symlinkSync(join(directory, 'precious'), join(root, 'link'));
  symlinkSync('/', join(root, 'slash'));
  await removeTree(root);
  symlinkSync(join(directory, 'precious'), root);
  await removeTree(root);
  assert.ok(!existsSync(root));
  assert.equal(readFileSync(join(directory, 'precious/file'), 'utf8'), 'x');
});

test('an abort stops the removal midway, and another call completes it', async (t) => {
  const root = join(scratch(t), 'root');
  execFileSync('sh', ['-c', 'mkdir "$0"; cd "$0"; seq 5000 | xargs touch', root]);
  const stop = new AbortController();
  const removal = removeTree(root, stop.signal);
  setTimeout(() => stop.abort(new Error('no more')), 20);
  await assert.rejects(removal, /no more/);
  assert.ok(readdirSync(root).length > 0);
  await removeTree(root);
  assert.ok(!existsSync(root));
});

test('in a tree with many files, large ones are removed first', async (t) => {
  const root = join(scratch(t), 'root');
  const parts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => join(root, name, 'deep'));
  for (const part of parts) {
    mkdirSync(part, { recursive: true });
    writeFileSync(join(part, 'large'), Buffer.alloc(1 << 20));
    linkSync(join(part, 'large'), join(part, 'link'));
  }
  execFileSync('sh', ['-c', 'for i in *; do (cd $i; seq 4000 | xargs touch); done'], { cwd: root });
  const stop = new AbortController();
  const removal = removeTree(root, stop.signal);
  const isAnyLarge = () => parts.some((part) => existsSync(join(part, 'large')) || existsSync(join(part, 'link')));
  await waitFor(() => !isAnyLarge() || undefined, { intervalMs: 1, signal: AbortSignal.timeout(60_000) });
  // if the large files had not been removed first, only the directory being emptied would still exist
  assert.ok(parts.filter((part) => existsSync(part)).length > 1);
  stop.abort(new Error('no more'));
  await assert.rejects(removal, /no more/);
  await removeTree(root);
  assert.ok(!existsSync(root));
});
