import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from './log.ts';

test('a logger with a full disk does not throw, and takes bounded memory', () => {
  const logger = createLogger({ path: '/dev/full' });
  const before = process.memoryUsage().heapUsed;
  for (let line = 0; line < 200_000; line++) logger.error({ line }, 'y'.repeat(200));
  const taken = process.memoryUsage().heapUsed - before;
  assert.ok(taken < 30 << 20, `${taken} bytes`);
});
