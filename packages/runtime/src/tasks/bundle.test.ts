import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { OciSpec } from '@podwright/oci';
import { commitSpec, readSpec, readSpecText } from './bundle.ts';

const directory = mkdtempSync(join(tmpdir(), 'bundle-test-'));
after(() => rmSync(directory, { recursive: true }));

const spec: OciSpec = {
  ociVersion: '1.0.2',
  process: { terminal: false, user: { uid: 0, gid: 0 }, args: ['true'], env: [], cwd: '/' },
  root: { path: '/rootfs', readonly: false },
  mounts: [],
  linux: { namespaces: [{ type: 'mount' }], cgroupsPath: '/a' },
};

test('the last committed spec is read, and the bundle contains nothing else', () => {
  const bundle = join(directory, 'one');
  assert.equal(readSpec(bundle), undefined);
  assert.equal(readSpecText(bundle), undefined);
  commitSpec(bundle, spec);
  assert.deepEqual(readSpec(bundle), spec);
  const changed = { ...spec, linux: { ...spec.linux, cgroupsPath: '/b' } };
  writeFileSync(join(bundle, 'config.json.tmp'), 'a partial file, as left by a crash');
  commitSpec(bundle, changed);
  assert.deepEqual(readSpec(bundle), changed);
  assert.deepEqual(JSON.parse(readSpecText(bundle)!), changed);
  assert.deepEqual(readdirSync(bundle), ['config.json']);
  assert.equal(statSync(join(bundle, 'config.json')).mode & 0o077, 0);
});

test('a file that is not a spec is rejected with its name', () => {
  const bundle = join(directory, 'broken');
  commitSpec(bundle, spec);
  for (const text of ['{"process', '[]', JSON.stringify({ ...spec, linux: {} })]) {
    writeFileSync(join(bundle, 'config.json'), text);
    assert.throws(() => readSpec(bundle), { code: 'internal', message: /config\.json/ });
  }
  writeFileSync(join(bundle, 'config.json'), '{"process');
  assert.throws(() => readSpecText(bundle), { code: 'internal', message: /config\.json/ });
});
