import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
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
import { silentLogger } from './log.ts';
import { removeTree } from './remove-tree.ts';
import { Trash } from './trash.ts';

function scratch(t: TestContext): string {
  const directory = mkdtempSync('/tmp/podwright-remove-');
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Directories in each other with a file each, of which no path to the last is short enough for the kernel. */
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

test('a tree goes with all that is in it, whatever the names; a file, a link and nothing are removed as well', async (t) => {
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

test('what cannot be there is removed: a name that is too long, and one below a file', async (t) => {
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

test('a tree too deep for any path goes, also with many deep branches', async (t) => {
  const root = join(scratch(t), 'root');
  makeDeep(root, 400);
  for (const name of ['one', 'two']) makeDeep(join(root, name), 40);
  await removeTree(root);
  assert.ok(!existsSync(root));
});

test('a directory of very many entries goes while others have the thread', async (t) => {
  const root = join(scratch(t), 'root');
  execFileSync('sh', ['-c', 'mkdir "$0"; cd "$0"; seq 20000 | xargs touch', root]);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await removeTree(root);
  clearInterval(timer);
  assert.ok(turns > 10, `${turns} turns`);
  assert.ok(!existsSync(root));
});

test('links are removed, and nothing that they lead to', async (t) => {
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

test('an abort ends it in the middle, and it can be taken up again', async (t) => {
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
