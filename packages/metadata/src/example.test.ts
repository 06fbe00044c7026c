import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('the example finds its record by ID prefix and by name, including in a second run', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-things-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const example = new URL('../examples/things.ts', import.meta.url).pathname;
  const args = [example, join(directory, 'things.db')];
  for (const _run of ['first', 'second']) {
    assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), 'first green\n');
  }
});
