import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { DirectorySnapshotter } from '../../packages/images/src/snapshots/directory-snapshotter.ts';
import { NativeLayout } from '../../packages/images/src/snapshots/native-layout.ts';
import { openDatabase } from '../../packages/metadata/src/database.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { makeScratch } from './scratch.ts';

const system = loadSystem();
let scratch: string;

beforeEach(() => {
  scratch = makeScratch();
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function open(): DirectorySnapshotter {
  const database = openDatabase(join(scratch, 'records.db'));
  const root = join(scratch, 'root');
  const snapshotter = new DirectorySnapshotter({
    root,
    database,
    layout: new NativeLayout(system),
    logger: silentLogger,
  });
  const close = snapshotter.close.bind(snapshotter);
  // close the database along with the snapshotter, because the records can only be opened once at a time
  snapshotter.close = async () => {
    await close();
    database.close();
  };
  return snapshotter;
}

/** Returns the names of the directories that belong to a snapshot. */
const directories = () => readdirSync(join(scratch, 'root')).filter((name) => /^[0-9]+$/.test(name));

test('opening removes directories without a record, partially filled directories and old trash', async () => {
  const first = open();
  await first.prepare('recorded', '');
  await first.close();
  mkdirSync(join(scratch, 'root', 'new', '7', 'fs'), { recursive: true });
  mkdirSync(join(scratch, 'root', '8', 'fs'), { recursive: true });
  mkdirSync(join(scratch, 'root', 'trash', 'old', 'directory'), { recursive: true });
  const second = open();
  await second.settle();
  assert.deepEqual(directories(), ['1']);
  assert.deepEqual(readdirSync(join(scratch, 'root', 'trash')), []);
  assert.equal(existsSync(join(scratch, 'root', 'new')), false);
  await second.close();
});

test('a record without a directory is removed with its children, and nothing else', async () => {
  const first = open();
  await first.prepare('filling', '');
  await first.commit('lost', 'filling');
  await first.prepare('on it', 'lost');
  await first.prepare('other', '');
  await first.close();
  rmSync(join(scratch, 'root', '1'), { recursive: true });
  const second = open();
  assert.deepEqual(
    (await second.list()).map(({ key }) => key),
    ['other'],
  );
  await second.settle();
  assert.deepEqual(directories(), ['3']);
  await second.close();
});

test('numbers of removed snapshots are not reused', async () => {
  const first = open();
  await first.prepare('a', '');
  await first.remove('a');
  await first.close();
  const second = open();
  await second.prepare('b', '');
  assert.deepEqual(directories(), ['2']);
  await second.close();
});

test('a removed tree vanishes at once, however deep and big, and is deleted in the background', async () => {
  const snapshotter = open();
  await snapshotter.prepare('big', '');
  const directory = await snapshotter.layerDirectory('big');
  // deeper than PATH_MAX allows: created by changing into each directory, as a container can do
  const script = `import os
for i in range(150):
    os.mkdir('d' * 50); os.chdir('d' * 50)
    if i % 10 == 0: open('f', 'w').close()`;
  const python = spawn('python3', ['-c', script], { cwd: directory, stdio: 'inherit' });
  assert.deepEqual(await once(python, 'exit'), [0, null]);
  for (let i = 0; i < 1000; i++) writeFileSync(join(directory, `file-${i}`), '');
  await snapshotter.usage('big');
  await snapshotter.remove('big');
  assert.deepEqual(directories(), []);
  await snapshotter.settle();
  assert.deepEqual(readdirSync(join(scratch, 'root', 'trash')), []);
  await snapshotter.close();
});

test('after a process is killed while preparing, committing and removing, every snapshot is complete or absent', async () => {
  const program = join(import.meta.dirname, 'busy-snapshotter.ts');
  for (const delayMs of [150, 200, 250, 300, 350]) {
    const child = spawn(process.execPath, [program, scratch], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data'); // it has started its work
    const timer = setTimeout(() => child.kill('SIGKILL'), delayMs - 150);
    await once(child, 'exit');
    clearTimeout(timer);
    const snapshotter = open();
    const list = await snapshotter.list();
    for (const { key, parent } of list) {
      const directory = await snapshotter.layerDirectory(key);
      assert.ok(existsSync(directory), `${key} has no files`);
      if (parent !== '') assert.ok(existsSync(join(directory, 'complete')), `${key} is not complete`);
      assert.ok(parent === '' || list.some((other) => other.key === parent), `${key} has no parent`);
    }
    await snapshotter.settle();
    assert.equal(directories().length, list.length);
    await snapshotter.close();
  }
});
