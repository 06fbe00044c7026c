import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { withoutLinks } from './without-links.ts';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'links-')));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, 'disk/data'), { recursive: true });
symlinkSync('disk', join(directory, 'link'));
symlinkSync('missing', join(directory, 'dangling'));
symlinkSync('loop', join(directory, 'loop'));

for (const [path, expected] of [
  ['disk/data', 'disk/data'],
  ['link', 'disk'],
  ['link/data', 'disk/data'],
  ['link/data/new/deeper', 'disk/data/new/deeper'],
  ['dangling/new', 'dangling/new'],
])
  test(`${path} without links is ${expected}`, () => {
    assert.equal(withoutLinks(join(directory, path!)), join(directory, expected!));
  });

test('the root directory resolves to itself', () => assert.equal(withoutLinks('/'), '/'));

test('a symlink loop is an error', () =>
  assert.throws(() => withoutLinks(join(directory, 'loop/x')), { code: 'ELOOP' }));
