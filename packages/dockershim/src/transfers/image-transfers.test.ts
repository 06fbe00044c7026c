import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { imageTransfers } from './image-transfers.ts';

test('a save that fails midway preserves the earlier file, and a complete one replaces it', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-save-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'images.tar');
  writeFileSync(path, 'earlier');
  async function* broken() {
    yield Buffer.from('half of an ');
    throw new Error('the Engine has ended');
  }
  const saveFrom = (archive: Readable) => {
    const { save } = imageTransfers({ archives: { save: async () => archive } as never });
    return save({ references: ['app:1'], path } as never, { signal: new AbortController().signal } as never);
  };
  await assert.rejects(async () => saveFrom(Readable.from(broken())), /save app:1 to .*the Engine has ended/);
  assert.equal(readFileSync(path, 'utf8'), 'earlier');
  await saveFrom(Readable.from([Buffer.from('archive')]));
  assert.equal(readFileSync(path, 'utf8'), 'archive');
  assert.deepEqual(readdirSync(directory), ['images.tar']);
});
