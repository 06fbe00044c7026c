/** Checks that all manifests have the same version, and which version a build reports. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { versionOfBuild } from '../../scripts/build-facts.ts';

test('all sources have the same version', () => {
  const root = new URL('../..', import.meta.url).pathname;
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  assert.ok(read('packages/base/src/version.ts').includes(`? '${version}' : PODWRIGHT_VERSION`), 'version.ts');
  for (const path of globSync('packages/*/package.json', { cwd: root })) {
    const { version: own, dependencies = {} } = JSON.parse(read(path));
    const names = Object.keys(dependencies).filter((name) => name.startsWith('@podwright/'));
    assert.deepEqual([own, ...names.map((name) => dependencies[name])], [own, ...names].fill(version), path);
  }
});

test('a build has the version of its commit’s tag, otherwise that in package.json', (context) => {
  const checkout = mkdtempSync(join(tmpdir(), 'pwr-'));
  context.after(() => rmSync(checkout, { recursive: true }));
  const person = ['-c', 'user.name=x', '-c', 'user.email=x@example.invalid'];
  const git = (...args: string[]) => execFileSync('git', ['-C', checkout, ...person, ...args], { stdio: 'pipe' });
  const version = () => versionOfBuild(checkout, {});
  writeFileSync(join(checkout, 'package.json'), '{ "version": "0.1.0" }');
  assert.equal(version(), '0.1.0', 'without Git');
  git('init', '--quiet');
  assert.equal(version(), '0.1.0', 'without a commit');
  const commit = () => git('commit', '--quiet', '--allow-empty', '--message', 'x');
  commit();
  for (const name of ['vendor', 'v1', '9.0.0']) git('tag', name);
  assert.equal(version(), '0.1.0', 'without a tag of a version');
  git('tag', 'v0.2.0-rc.1');
  assert.equal(version(), '0.2.0-rc.1');
  git('tag', '--annotate', '--message', 'x', 'v0.2.0');
  assert.equal(version(), '0.2.0');
  assert.equal(versionOfBuild(checkout, { PODWRIGHT_VERSION: '0.3.0' }), '0.3.0');
  commit();
  assert.equal(version(), '0.1.0', 'after the tagged commit');
});
