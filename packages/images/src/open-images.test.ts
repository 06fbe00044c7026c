import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openImages } from './open-images.ts';

test('an open store cannot be opened again until it is closed', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'podwright-images-'));
  t.after(() => rmSync(root, { recursive: true }));
  const open = () => openImages({ root, snapshotterKind: 'native' });
  {
    await using store = await open();
    await assert.rejects(open(), { code: 'already_exists', message: /^open the images in .*: they are open already/ });
    assert.deepEqual(store.images.list(), []);
  }
  await using again = await open();
  assert.deepEqual(await again.snapshotter.list(), []);
});
