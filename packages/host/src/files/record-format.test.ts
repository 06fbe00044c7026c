import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { VERSION } from '@podwright/base';
import { claimFormat, requireFormat } from './record-format.ts';

function scratch(context: TestContext): { directory: string; file: string } {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-format-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return { directory, file: join(directory, 'format.json') };
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

test('records without a format file, or in an earlier format, are claimed for this version', (context) => {
  const { directory, file } = scratch(context);
  claimFormat(directory, 1);
  assert.deepEqual(read(file), { format: 1, version: VERSION });
  claimFormat(directory, 2);
  assert.deepEqual(read(file), { format: 2, version: VERSION });
});

test('records in a newer format are rejected with both versions and formats, and left unchanged', (context) => {
  const { directory, file } = scratch(context);
  const text = '{"format":3,"version":"7.8.9"}';
  writeFileSync(file, text);
  const refusal = {
    code: 'failed_precondition',
    message: `podwright 7.8.9 has written the records in ${directory} in format 3, and podwright ${VERSION} reads formats up to 2; nothing was changed: start podwright 7.8.9 again, or use another root directory (--root)`,
  };
  assert.throws(() => requireFormat(directory, 2), refusal);
  assert.throws(() => claimFormat(directory, 2), refusal);
  assert.deepEqual(readdirSync(directory), ['format.json']);
  assert.equal(readFileSync(file, 'utf8'), text);
});

test('an unreadable format file is treated as absent', (context) => {
  const { directory, file } = scratch(context);
  for (const text of ['', '{"format":"3"}', '[]', '{"format":1.5,"version":"1"}']) {
    writeFileSync(file, text);
    claimFormat(directory, 1);
    assert.deepEqual(read(file), { format: 1, version: VERSION }, text);
  }
});

test('a FIFO or a symlink to a device is treated as absent, and replaced', (context) => {
  for (const make of [
    (file: string) => execFileSync('mkfifo', [file]),
    (file: string) => symlinkSync('/dev/full', file),
  ]) {
    const { directory, file } = scratch(context);
    make(file);
    claimFormat(directory, 2);
    assert.deepEqual([lstatSync(file).isFile(), read(file)], [true, { format: 2, version: VERSION }]);
  }
});
