import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raceAbort } from './deadline.ts';

test('work that fails after it was given up ends no process', async () => {
  const failures: unknown[] = [];
  const note = (reason: unknown) => failures.push(reason);
  process.on('unhandledRejection', note);
  const work = Promise.withResolvers<void>();
  await assert.rejects(raceAbort(work.promise, AbortSignal.abort(new Error('given up'))), { message: 'given up' });
  work.reject(new Error('late'));
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off('unhandledRejection', note);
  assert.deepEqual(failures, []);
});
