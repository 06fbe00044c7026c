import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { LayerSizes, measureTree } from './layer-sizes.ts';

const bound = () => AbortSignal.timeout(10_000);

test('a size dated in the future after the clock is set back is measured again', async (context) => {
  const top = mkdtempSync(join(tmpdir(), 'layer-'));
  context.after(() => rmSync(top, { recursive: true }));
  const sizes = new LayerSizes();
  assert.equal((await sizes.of(top))?.inodes, 0);
  writeFileSync(join(top, 'file'), '');
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
  await sizes.of(top); // returns the cached size and starts a measurement
  await waitFor(async () => (await sizes.of(top))?.inodes || undefined, { intervalMs: 5, signal: bound() });
});

test('a tree is measured with its subdirectories, counting hard links once and symlinks as themselves', async () => {
  const top = mkdtempSync(join(tmpdir(), 'layer-'));
  mkdirSync(join(top, 'a/b'), { recursive: true });
  writeFileSync(join(top, 'a/b/file'), Buffer.alloc(1 << 20, 'x'));
  linkSync(join(top, 'a/b/file'), join(top, 'again'));
  symlinkSync('/', join(top, 'root'));
  const { sizeBytes, inodes } = await measureTree(top);
  assert.equal(inodes, 4);
  assert.ok(sizeBytes >= 1 << 20 && sizeBytes < 1.5 * (1 << 20), `${sizeBytes}`);
  const sizes = new LayerSizes();
  const first = await sizes.of(top);
  assert.equal(first?.inodes, 4);
  writeFileSync(join(top, 'more'), '');
  assert.equal(await sizes.of(top), first, 'within a minute it is not measured again');
  sizes.keep(new Set());
  assert.equal((await sizes.of(top))?.inodes, 5);
  rmSync(top, { recursive: true });
  assert.equal(await new LayerSizes().of(top), undefined);
});

test('a measurement succeeds with files being removed and non-UTF-8 names', async () => {
  const top = mkdtempSync(join(tmpdir(), 'layer-'));
  const odd = Buffer.concat([Buffer.from(`${top}/`), Buffer.from([0xff])]);
  mkdirSync(odd);
  writeFileSync(Buffer.concat([odd, Buffer.from('/file')]), Buffer.alloc(1 << 20, 'x'));
  const busy = spawn('sh', ['-c', 'while :; do mkdir -p a/b/c d/e/f g/h/i; rm -rf a d g; done'], {
    cwd: top,
    detached: true, // a new process group
  });
  try {
    for (let round = 0; round < 200; round++) {
      const { sizeBytes } = await measureTree(top);
      assert.ok(sizeBytes >= 1 << 20, `${sizeBytes}`);
    }
  } finally {
    const ended = once(busy, 'exit');
    process.kill(-busy.pid!, 'SIGKILL');
    await ended;
    rmSync(top, { recursive: true, maxRetries: 10 }); // the shell's last command may outlive it shortly
  }
});

test('a tree that is deeper than PATH_MAX is measured down to PATH_MAX', async () => {
  const top = mkdtempSync(join(tmpdir(), 'layer-'));
  const script = 'i=0; while [ $i -lt 30 ]; do n=$(printf %0200d 0); mkdir $n; cd $n; i=$((i+1)); done';
  spawnSync('sh', ['-c', script], { cwd: top });
  writeFileSync(join(top, 'file'), Buffer.alloc(1 << 20, 'x'));
  assert.ok((await measureTree(top)).sizeBytes >= 1 << 20);
  spawnSync('rm', ['-rf', top]);
});
