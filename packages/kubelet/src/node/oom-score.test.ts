import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { applyOomScore } from './oom-score.ts';

const own = () => Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));

test('a permitted score is set, and a score that must not be lowered is unchanged', async () => {
  await applyOomScore(500, silentLogger);
  assert.equal(own(), 500);
  const lines: unknown[] = [];
  await applyOomScore(-1000, { ...silentLogger, info: (fields) => lines.push(fields) });
  if (own() === -1000)
    assert.deepEqual(lines, []); // this process has CAP_SYS_RESOURCE
  else assert.deepEqual([own(), lines.length], [500, 1]);
});
