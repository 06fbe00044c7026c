/** The same commit produces the same bytes, and the lists of contents are complete. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { VERSION } from '../../packages/base/src/version.ts';
import { buildOwnRelease, makeReleaseElsewhere, type Release, unpackArchive } from './release.fixture.ts';

let release: Release;
before(async () => {
  release = await buildOwnRelease(); // on a busy host V8 compiles other functions, so a repeated test needs another release
});
after(() => release.remove());

test('builds with different paths and umasks have the same files', async () => {
  const again = await makeReleaseElsewhere();
  try {
    const sums = (directory: string) => readFileSync(join(directory, 'SHA256SUMS'), 'utf8').split('\n');
    assert.deepEqual(sums(again), sums(release.directory));
    execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: again });
  } finally {
    rmSync(again, { recursive: true });
  }
});

test('the bill of materials and the licenses list the same packages', () => {
  const sbom = JSON.parse(readFileSync(join(release.directory, `podwright-${VERSION}.cdx.json`), 'utf8'));
  const listed = (sbom.components as { name: string; version: string }[]).map(
    ({ name, version }) => `${name} ${version}`,
  );
  assert.ok(listed.some((line) => line.startsWith('better-sqlite3 ')));
  assert.ok(!listed.some((line) => line.startsWith('esbuild ')));
  const directory = unpackArchive(release);
  const licences = readFileSync(join(directory, 'THIRD-PARTY-LICENSES'), 'utf8');
  rmSync(directory, { recursive: true });
  for (const line of listed) assert.ok(licences.includes(`\n${line.replace(/^node /, 'Node.js ')}`), line);
});
