import assert from 'node:assert/strict';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LayerSizes, measureTree } from './layer-sizes.ts';

test('a tree is measured with what is below, a file with two names once, links as themselves', async () => {
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
