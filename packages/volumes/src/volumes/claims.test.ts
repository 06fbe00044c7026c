import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { ClaimVolumes } from './claims.ts';

test('pods that start to use a new claim at the same time get the same directory', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'podwright-claims-'));
  t.after(() => rmSync(root, { recursive: true }));
  const claims = new ClaimVolumes(root, silentLogger);
  for (let round = 0; round < 20; round++) {
    const name = `data-${round}`;
    const path = join(root, 'claims', 'default', name);
    const made = await Promise.all([1, 2, 3].map(() => claims.make('default', name)));
    assert.deepEqual(made, [path, path, path]);
  }
});
