import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../settings/node-config.ts';
import { placeFindings } from './doctor-places.ts';

function makeNode(t: TestContext) {
  const directory = mkdtempSync('/tmp/doctor-places-');
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'config.toml');
  writeFileSync(file, `root = "${directory}"\n[runtime]\nregistry_config_dir = "${directory}/certs.d"\n`);
  const find = () => placeFindings(loadConfig({ config: file })).map(({ level, message }) => `${level} ${message}`);
  return { directory, file, find };
}

test('missing directories are reported as ok', (t) => {
  const { directory, file, find } = makeNode(t);
  assert.deepEqual(find(), [
    `ok ${file}`,
    `ok ${directory}/manifests does not exist`,
    `ok ${directory}/certs.d does not exist`,
    `ok ${directory}/kubelet/seccomp does not exist`,
  ]);
});

test('directories are reported with their contents', (t) => {
  const { directory, find } = makeNode(t);
  for (const path of ['manifests', 'certs.d/r.test:5000', 'certs.d/docker.io', 'kubelet/seccomp'])
    mkdirSync(join(directory, path), { recursive: true });
  for (const path of [
    'manifests/a.yaml',
    'manifests/.b.yaml',
    'certs.d/docker.io/hosts.toml',
    'kubelet/seccomp/mine.json',
  ])
    writeFileSync(join(directory, path), '');
  assert.deepEqual(find().slice(1), [
    `ok ${directory}/manifests: 1 file`,
    `ok ${directory}/certs.d: docker.io (hosts.toml), r.test:5000`,
    `ok ${directory}/kubelet/seccomp: 1 profile for seccompProfile type Localhost`,
  ]);
});

test('a file in place of a directory is a note with a fix', (t) => {
  const { directory, file } = makeNode(t);
  writeFileSync(join(directory, 'certs.d'), '');
  const [finding] = placeFindings(loadConfig({ config: file })).filter(({ level }) => level === 'note');
  assert.equal(finding?.message, `${directory}/certs.d is not a directory`);
  assert.match(finding.fix!, /^replace it: /);
});
