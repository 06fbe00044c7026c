import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { resolveCdiDevices } from './cdi-devices.ts';

let directories: string[];
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cdi-'));
  directories = ['static', 'dynamic'].map((name) => join(root, name));
  for (const directory of directories) mkdirSync(directory);
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes a specification of the kind `a.com/b`, in which each device sets the variable FROM to `DEVICE of FILE`. */
function write(file: string, devices: string[], change: object = {}): void {
  const edits = (name: string) => ({ name, containerEdits: { env: [`FROM=${name} of ${file}`] } });
  const spec = { cdiVersion: '1.0.0', kind: 'a.com/b', devices: devices.map(edits), ...change };
  writeFileSync(join(root, file), JSON.stringify(spec));
}

const variables = async (...names: string[]) =>
  (await resolveCdiDevices(names, directories)).edits.flatMap(({ env = [] }) => env);

test('devices are found by name, and common edits of a file are applied once, before those of its first device', async () => {
  write('static/one.json', ['x', 'y'], { containerEdits: { env: ['ALL=one'] } });
  write('static/two.json', ['z'], { kind: 'a.com/c' });
  assert.deepEqual(await variables('a.com/b=y', 'a.com/c=z', 'a.com/b=x'), [
    'ALL=one',
    'FROM=y of static/one.json',
    'FROM=z of static/two.json',
    'FROM=x of static/one.json',
  ]);
});

test('a later directory takes precedence, and a new file takes effect immediately', async () => {
  write('static/one.json', ['x']);
  assert.deepEqual(await variables('a.com/b=x'), ['FROM=x of static/one.json']);
  write('dynamic/one.json', ['x']);
  assert.deepEqual(await variables('a.com/b=x'), ['FROM=x of dynamic/one.json']);
});

test('the error for an unknown device names the device and the unreadable files', async () => {
  write('static/one.json', ['x']);
  writeFileSync(join(root, 'static/broken.yaml'), 'cdiVersion: [');
  writeFileSync(join(root, 'static/readme.txt'), 'not one');
  mkdirSync(join(root, 'dynamic/directory.json'));
  assert.deepEqual(await variables('a.com/b=x'), ['FROM=x of static/one.json']);
  await assert.rejects(variables('a.com/b=x', 'a.com/b=none'), {
    code: 'failed_precondition',
    message:
      /^CDI device a\.com\/b=none is not in any specification .*broken\.yaml: it is neither.*directory\.json: it is not a file/,
  });
});

test('a device defined by two files in one directory is rejected', async () => {
  write('static/one.json', ['x']);
  write('static/two.json', ['x', 'y']);
  await assert.rejects(variables('a.com/b=x'), { code: 'failed_precondition', message: /one\.json and .*two\.json/ });
  assert.deepEqual(await variables('a.com/b=y'), ['FROM=y of static/two.json']);
});

test('nothing is read if no devices are requested, and directories need not exist', async () => {
  assert.deepEqual(await resolveCdiDevices([], ['/no/such/directory']), { edits: [], nodes: [] });
  await assert.rejects(resolveCdiDevices(['a/b=c'], ['/no/such/directory']), { code: 'failed_precondition' });
});
