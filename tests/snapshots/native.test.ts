import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { openSnapshotter } from '../../packages/images/src/snapshots/open-snapshotter.ts';
import { snapshotterSuite } from '../../packages/images/src/snapshots/snapshotter.suite.ts';
import type { Snapshotter } from '../../packages/images/src/snapshots/snapshotter.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { assertSameTree } from './describe-tree.ts';
import { makeScratch, openRecords } from './scratch.ts';

const system = loadSystem();

function open(root: string): Snapshotter {
  mkdirSync(root, { recursive: true });
  const database = openRecords(root);
  return openSnapshotter({ kind: 'native', root, database, system, logger: silentLogger }).snapshotter;
}

snapshotterSuite('native', { open, system, scratch: makeScratch });

/** Creates a tree with files of each type and with each attribute. */
function fill(directory: string): void {
  const at = (name: string) => join(directory, name);
  mkdirSync(at('directory/below'), { recursive: true });
  writeFileSync(at('directory/file'), 'content');
  linkSync(at('directory/file'), at('directory/below/twin'));
  symlinkSync('../nowhere', at('directory/link'));
  writeFileSync(Buffer.concat([Buffer.from(at('directory/')), Buffer.from([0xff, 0xfe])]), 'a name that is not UTF-8');
  execFileSync('mknod', [at('device'), 'b', '7', '300']);
  execFileSync('mkfifo', ['-m', '640', at('pipe')]);
  execFileSync('install', ['-m', '6755', '-o', '123', '-g', '45', '/bin/true', at('setuid')]);
  system.setXattr(at('directory/file'), 'user.binary', Buffer.from([0, 1, 255, 0]));
  system.setXattr(at('directory'), 'trusted.probe', Buffer.from('x'));
  const sparse = openSync(at('sparse'), 'w');
  writeSync(sparse, 'start', 0);
  writeSync(sparse, 'end', 5_000_000);
  ftruncateSync(sparse, 1 << 26);
  closeSync(sparse);
  utimesSync(at('directory/below'), 1_000_000_000, '-1000000000.25'); // a string, as Node.js takes a negative number for the current time
}

test('a copy matches the original in every attribute', async () => {
  const scratch = makeScratch();
  const snapshotter = open(join(scratch, 'root'));
  try {
    await snapshotter.prepare('filling', '');
    const original = await snapshotter.layerDirectory('filling');
    fill(original);
    await snapshotter.commit('base', 'filling');
    await snapshotter.prepare('copy', 'base');
    const copy = await snapshotter.layerDirectory('copy');
    assertSameTree(copy, original, system);
    const [file, twin] = [lstatSync(join(copy, 'directory/file')), lstatSync(join(copy, 'directory/below/twin'))];
    assert.equal(file.ino, twin.ino);
    assert.ok(lstatSync(join(copy, 'sparse')).blocks * 512 < 1 << 20, 'the holes were filled');
    const { sizeBytes } = await snapshotter.usage('copy');
    assert.ok(sizeBytes < 1 << 20, `${sizeBytes} bytes`);
  } finally {
    await snapshotter.close();
    rmSync(scratch, { recursive: true, force: true });
  }
});
