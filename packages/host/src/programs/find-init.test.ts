import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findInit } from './find-init.ts';

test('the init program is found even outside PATH', (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwr-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'init');
  const candidates = ['no-such-program-of-pods', join(directory, 'other'), path];
  assert.equal(findInit(candidates), undefined);
  writeFileSync(path, '', { mode: 0o755 });
  assert.equal(findInit(candidates), path);
});
