import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { removeTree } from '@podwright/host';
import { diskUsage, measureTree } from './disk-usage.ts';

const signal = AbortSignal.timeout(60_000);

function scratch(t: TestContext): string {
  const directory = mkdtempSync('/tmp/podwright-usage-');
  t.after(() => removeTree(directory));
  return directory;
}

/** The usage as counted by du(1). */
function du(directory: string): { sizeBytes: number; inodes: number } {
  const count = (option: string) =>
    Number(execFileSync('du', ['-s', '-x', option, directory], { encoding: 'utf8' }).split('\t')[0]);
  return { sizeBytes: count('--block-size=1'), inodes: count('--inodes') };
}

test('a tree is counted as by du: hard links once, symbolic links not followed', async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, 'a/b'), { recursive: true });
  writeFileSync(join(directory, 'a/file'), 'x'.repeat(100_000));
  linkSync(join(directory, 'a/file'), join(directory, 'a/b/same'));
  symlinkSync('/usr', join(directory, 'a/usr'));
  assert.deepEqual(await diskUsage(directory, signal), du(directory));
});

test('each hard link counts as a name, and holes count as content', async (t) => {
  const directory = scratch(t);
  writeFileSync(join(directory, 'file'), 'x'.repeat(1000));
  linkSync(join(directory, 'file'), join(directory, 'same'));
  symlinkSync('/usr', join(directory, 'usr'));
  execFileSync('truncate', ['-s', '1M', join(directory, 'holes')]);
  const { names, contentBytes } = await measureTree(directory, signal);
  assert.deepEqual({ names, contentBytes }, { names: 5, contentBytes: 1000 + (1 << 20) });
});

test('directories deeper than PATH_MAX are counted as well', async (t) => {
  const directory = scratch(t);
  const script = `
    const { mkdirSync, writeFileSync } = require('node:fs');
    for (let level = 0; level < 1000; level++) {
      mkdirSync('a'.repeat(15));
      process.chdir('a'.repeat(15));
      writeFileSync('file', 'x');
    }`;
  execFileSync(process.execPath, ['-e', script], { cwd: directory });
  const usage = await diskUsage(directory, signal);
  assert.equal(usage.inodes, 2001);
  assert.deepEqual(usage, du(directory));
});

test('counting a directory of very many files does not block the event loop', async (t) => {
  const directory = scratch(t);
  execFileSync('sh', ['-c', 'seq 20000 | xargs touch'], { cwd: directory });
  let longestMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 1);
  const { inodes } = await diskUsage(directory, signal);
  clearInterval(timer);
  assert.equal(inodes, 20_001);
  assert.ok(longestMs < 250, `the event loop was blocked for ${longestMs} ms`);
});
