import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resolveInRoot } from './root-path.ts';

test('no link and no .. leads out of the root', async () => {
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

test('below a place that something else covers, links do not count', async () => {
  const root = mkdtempSync(join(tmpdir(), 'podwright-root-'));
  try {
    mkdirSync(join(root, 'data'));
    symlinkSync('/etc', join(root, 'data/link'));
    symlinkSync('data', join(root, 'to-data'));
    const resolve = (path: string) => resolveInRoot(root, path, (place) => place === '/data');
    assert.equal(await resolve('/to-data/link/x'), join(root, 'data/link/x'));
    assert.equal(await resolve('/to-data'), join(root, 'data'));
    assert.equal(await resolve('/other/data/link'), join(root, 'other/data/link'));
  } finally {
    rmSync(root, { recursive: true });
  }
});
