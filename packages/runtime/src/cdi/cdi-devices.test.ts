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

/** Writes a specification of `a.com/b` whose devices set the variable FROM to their own and their file's name. */
function write(file: string, devices: string[], change: object = {}): void {
  const edits = (name: string) => ({ name, containerEdits: { env: [`FROM=${name} of ${file}`] } });
  const spec = { cdiVersion: '1.0.0', kind: 'a.com/b', devices: devices.map(edits), ...change };
  writeFileSync(join(root, file), JSON.stringify(spec));
}

const variables = async (...names: string[]) =>
  (await resolveCdiDevices(names, directories)).edits.flatMap(({ env = [] }) => env);

test("devices are found by name, each file's own edits once and before them", async () => {
  write('static/one.json', ['x', 'y'], { containerEdits: { env: ['ALL=one'] } });
  write('static/two.json', ['z'], { kind: 'a.com/c' });
  assert.deepEqual(await variables('a.com/b=y', 'a.com/c=z', 'a.com/b=x'), [
    'ALL=one',
    'FROM=y of static/one.json',
    'FROM=z of static/two.json',
    'FROM=x of static/one.json',
  ]);
});

test('a later directory wins, and what changes is seen at once', async () => {
  write('static/one.json', ['x']);
  assert.deepEqual(await variables('a.com/b=x'), ['FROM=x of static/one.json']);
  write('dynamic/one.json', ['x']);
  assert.deepEqual(await variables('a.com/b=x'), ['FROM=x of dynamic/one.json']);
});

test('an unknown device is refused by its name, with what could not be read', async () => {
  write('static/one.json', ['x']);
  writeFileSync(join(root, 'static/broken.yaml'), 'cdiVersion: [');
  writeFileSync(join(root, 'static/readme.txt'), 'not one');
  mkdirSync(join(root, 'dynamic/directory.json'));
  assert.deepEqual(await variables('a.com/b=x'), ['FROM=x of static/one.json']);
  await assert.rejects(variables('a.com/b=x', 'a.com/b=none'), {
    code: 'failed_precondition',
    message:
      /^CDI device a\.com\/b=none is in no specification .*broken\.yaml: it is neither.*directory\.json: it is no file/,
  });
});

test('a device of two files of one directory is that of neither', async () => {
  write('static/one.json', ['x']);
  write('static/two.json', ['x', 'y']);
  await assert.rejects(variables('a.com/b=x'), { code: 'failed_precondition', message: /one\.json and .*two\.json/ });
  assert.deepEqual(await variables('a.com/b=y'), ['FROM=y of static/two.json']);
});

test('without devices nothing is read, and directories need not be there', async () => {
  assert.deepEqual(await resolveCdiDevices([], ['/no/such/directory']), { edits: [], nodes: [] });
  await assert.rejects(resolveCdiDevices(['a/b=c'], ['/no/such/directory']), { code: 'failed_precondition' });
});
