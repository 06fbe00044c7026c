import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { errorCode, errorMessage } from '@podwright/base';
import { readEndpoint, writeEndpoint } from './shim-record.ts';

const bundle = mkdtempSync(join(tmpdir(), 'shim-record-'));
after(() => rmSync(bundle, { recursive: true }));
const path = join(bundle, 'shim.json');
const endpoint = { version: 3, address: 'unix:///run/s' } as const;

test('an endpoint is read from its record, from a record in the previous format, and from the address file of containerd 1', async () => {
  assert.equal(await readEndpoint(bundle), undefined);
  writeFileSync(join(bundle, 'address'), 'unix:///run/old');
  assert.deepEqual(await readEndpoint(bundle), { version: 2, address: 'unix:///run/old' });
  writeFileSync(path, JSON.stringify(endpoint));
  assert.deepEqual(await readEndpoint(bundle), endpoint);
  await writeEndpoint(bundle, endpoint);
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).recordVersion, 1);
  assert.deepEqual(await readEndpoint(bundle), endpoint);
});

for (const text of ['', '{"version":3,"addr', 'null', '[]', '{"version":4,"address":"/s"}', '{"version":2}', '7'])
  test(`a damaged record is an error with its path: ${JSON.stringify(text)}`, async () => {
    writeFileSync(path, text);
    await assert.rejects(readEndpoint(bundle), (error) => {
      assert.equal(errorCode(error), 'data_loss');
      assert.ok(errorMessage(error).includes(path));
      return true;
    });
  });

test('a record with a newer version is an error', async () => {
  writeFileSync(path, JSON.stringify({ recordVersion: 2, ...endpoint }));
  await assert.rejects(readEndpoint(bundle), /damaged/);
});
