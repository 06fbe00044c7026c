import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runChecked } from '../programs/program.ts';
import { readJsonFile, readRegularFile } from './regular-file.ts';

const MAX_BYTES = 1 << 20;

function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-regular-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

test('a regular file is read up to the limit', async (t) => {
  const path = join(scratch(t), 'file');
  for (const text of ['', 'ä'.repeat(MAX_BYTES / 2)]) {
    writeFileSync(path, text);
    assert.equal(await readRegularFile(path, MAX_BYTES), text);
  }
  writeFileSync(path, 'x'.repeat(MAX_BYTES + 1));
  await assert.rejects(readRegularFile(path, MAX_BYTES), { message: 'it has 1048577 bytes, more than 1048576' });
  await assert.rejects(readRegularFile(`${path}s`, MAX_BYTES), { code: 'ENOENT' });
});

test('symlinks, FIFOs, sockets, directories and devices are rejected at once', { timeout: 10_000 }, async (t) => {
  const directory = scratch(t);
  const path = (name: string) => join(directory, name);
  writeFileSync(path('file'), '');
  symlinkSync('/dev/zero', path('zero'));
  symlinkSync('file', path('link'));
  mkdirSync(path('directory'));
  await runChecked('mkfifo', [path('fifo')]);
  const server = createServer().listen(path('socket'));
  t.after(() => server.close());
  for (const link of ['zero', 'link'])
    await assert.rejects(readRegularFile(path(link), MAX_BYTES), { message: 'it is a symbolic link' });
  for (const other of [path('directory'), path('fifo'), path('socket'), '/dev/zero'])
    await assert.rejects(readRegularFile(other, MAX_BYTES), { message: 'it is not a regular file' }, other);
});

test('shallow JSON is read, and deeply nested or invalid JSON is rejected', async (t) => {
  const path = join(scratch(t), 'file');
  const read = (text: string) => {
    writeFileSync(path, text);
    return readJsonFile(path, MAX_BYTES);
  };
  const nested = (levels: number) => '{"a":['.repeat(levels / 2) + ']}'.repeat(levels / 2);
  assert.deepEqual(await read('{"a":[1,null,"x"]}'), { a: [1, null, 'x'] });
  await read(nested(64));
  for (const levels of [66, 100_000])
    await assert.rejects(read(nested(levels)), { message: 'it has more than 64 levels' });
  await assert.rejects(read('{'), { code: 'data_loss', message: /^it is not JSON: / });
});
