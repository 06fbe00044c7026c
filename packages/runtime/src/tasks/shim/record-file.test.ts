import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { errorCode, errorMessage } from '@podwright/base';
import { readRecord, shimProgramSchema, writeRecord } from './record-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'shim-records-'));
after(() => rmSync(directory, { recursive: true }));
const path = join(directory, 'a.json');

test('a record is read back unchanged with its version, and one without a version has the previous format', async () => {
  const record = { path: '/usr/bin/shim', options: { typeUrl: 'a.Options', value: 'Cg==' } };
  await writeRecord(path, record);
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).version, 1);
  assert.deepEqual(await readRecord(path, shimProgramSchema), record);
  writeFileSync(path, JSON.stringify(record));
  assert.deepEqual(await readRecord(path, shimProgramSchema), record);
  assert.equal(await readRecord(join(directory, 'none.json'), shimProgramSchema), undefined);
});

for (const [what, text] of [
  ['is not JSON', '{"path": "/usr/'],
  ['is empty', ''],
  ['is not an object', '[]'],
  ['lacks a required field', '{}'],
  ['has a wrong type', '{"path": 7}'],
  ['is of a later version', '{"version": 2, "path": "/usr/bin/shim"}'],
] as const)
  test(`a record that ${what} is an error that names its file`, async () => {
    writeFileSync(path, text);
    await assert.rejects(readRecord(path, shimProgramSchema), (error) => {
      assert.equal(errorCode(error), 'data_loss');
      assert.ok(errorMessage(error).includes(path));
      return true;
    });
  });
