import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { applyOomScore } from './oom-score.ts';

const own = () => Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));

test('a score that may be set is set, and where a lower one may not be, it stays', async () => {
  await applyOomScore(500, silentLogger);
  assert.equal(own(), 500);
  const told: unknown[] = [];
  await applyOomScore(-1000, { ...silentLogger, info: (fields) => told.push(fields) });
  if (own() === -1000)
    assert.deepEqual(told, []); // this process has CAP_SYS_RESOURCE
  else assert.deepEqual([own(), told.length], [500, 1]);
});
