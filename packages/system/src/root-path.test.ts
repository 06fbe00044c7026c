import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resolveInRoot } from './root-path.ts';

test('neither links nor .. lead out of the root', async () => {
  const root = mkdtempSync(join(tmpdir(), 'podwright-root-'));
  try {
    mkdirSync(join(root, 'usr/lib'), { recursive: true });
    symlinkSync('/usr/lib', join(root, 'lib'));
    symlinkSync('../../../..', join(root, 'up'));
    symlinkSync('/etc', join(root, 'etc-link'));
    symlinkSync('loop', join(root, 'loop'));
    const check = async (path: string, expected: string) =>
      assert.equal(await resolveInRoot(root, path), join(root, expected));
    await check('/data/new', 'data/new');
    await check('/lib/x', 'usr/lib/x');
    await check('/up/etc', 'etc');
    await check('/etc-link/passwd', 'etc/passwd');
    await check('../../etc', 'etc');
    await assert.rejects(resolveInRoot(root, '/loop'), { code: 'invalid_argument' });
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('under a mount, links are read from the mount’s source, and may only lead to paths in the same mount', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-root-'));
  const [root, source, deeper] = ['root', 'source', 'deeper'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  try {
    for (const path of [join(root, 'data/in'), join(source, 'in'), deeper]) mkdirSync(path, { recursive: true });
    symlinkSync('/etc', join(root, 'data/link'));
    symlinkSync('data', join(root, 'to-data'));
    symlinkSync('/to-data/../turn', join(root, 'through'));
    symlinkSync('/etc', join(root, 'turn'));
    for (const [path, target] of [
      ['source/inner', 'in/x'],
      ['source/out', '/etc'],
      ['source/up', 'in/../../etc'],
      ['source/down', 'sub/down'],
      ['deeper/down', 'y'],
      ['deeper/up', '../in'],
    ] as const)
      symlinkSync(target, join(directory, path));
    const covers = new Map([
      ['/dev', undefined],
      ['/data', source],
      ['/data/sub', deeper],
    ]);
    const check = async (path: string, expected: string, mayLeave = false) =>
      assert.equal(await resolveInRoot(root, path, { covers, mayLeave }), join(root, expected), path);
    await check('/to-data/link/x', 'data/link/x');
    await check('/to-data', 'data');
    await check('/other/data/link', 'other/data/link');
    await check('/through/x', 'etc/x');
    await check('/dev/../turn', 'etc');
    await check('/data/inner/y', 'data/in/x/y');
    await check('/data/down', 'data/sub/y');
    for (const path of ['/data/out', '/to-data/out/x', '/data/up', '/data/sub/up']) {
      const refused = { code: 'invalid_argument', message: /is a symbolic link that leads out of/ };
      await assert.rejects(resolveInRoot(root, path, { covers }), refused, path);
    }
    await check('/data/out/x', 'etc/x', true);
    await check('/data/up', 'etc', true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
