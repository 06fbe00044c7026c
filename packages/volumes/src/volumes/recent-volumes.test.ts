import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeAtomically } from './atomic-writer.ts';
import { RECENT_MS, RecentVolumes } from './recent-volumes.ts';

test('a volume is recent for some seconds after a write, as long as it exists with the same content', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-recent-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  await writeAtomically(directory, new Map([['a', { data: Buffer.from('1'), mode: 0o644 }]]));
  let nowMs = 1000;
  t.mock.method(performance, 'now', () => nowMs);
  const volumes = new RecentVolumes();
  assert.equal(volumes.has(directory, 'x'), false);
  volumes.add(directory, 'x');
  assert.deepEqual([volumes.has(directory, 'x'), volumes.has(directory, 'y')], [true, false]);
  nowMs += RECENT_MS;
  assert.equal(volumes.has(directory, 'x'), false);
  volumes.add(directory, 'x');
  assert.equal(volumes.has(directory, 'x'), true);
  rmSync(directory, { recursive: true });
  assert.equal(volumes.has(directory, 'x'), false);
});
