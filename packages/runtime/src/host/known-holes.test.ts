import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownHoles } from './known-holes.ts';

test('a version is vulnerable if the fix is only in later versions of its release branch or in newer branches', () => {
  const breakouts = ['CVE-2025-31133', 'CVE-2025-52565', 'CVE-2025-52881'];
  const table: [name: string, version: string, holes: string[]][] = [
    ['runc', '1.1.5+ds1', ['CVE-2024-21626', 'CVE-2024-45310', ...breakouts]],
    ['runc', 'runc version 1.1.15', breakouts],
    ['runc', '1.2.7', breakouts],
    ['runc', '1.2.8', []],
    ['runc', '1.3.2', breakouts],
    ['runc', '1.3.6', []],
    ['runc', '1.4.0-rc.2', breakouts],
    ['runc', '1.4.0', []],
    ['runc', '1.5.1', []],
    ['runc', '2.0', []],
    ['runc', '', []],
    ['crun', '1.8.1', []],
    ['youki', '0.1.0', []],
  ];
  for (const [name, version, holes] of table)
    assert.deepEqual(knownHoles(name, version)?.holes ?? [], holes, `${name} ${version}`);
  assert.deepEqual(knownHoles('runc', '1.1.5')?.fixedIn, ['1.2.8', '1.3.3', '1.4.0']);
});
