import assert from 'node:assert/strict';
import { test } from 'node:test';
import { background, ignoreFailure } from './background.ts';

test('failures of background work are logged, successes are not', async () => {
  const logged: unknown[] = [];
  const logger = { error: (fields: object, message: string) => logged.push([fields, message]) };
  background(logger, 'the work failed', Promise.reject(new Error('no disk')));
  background(logger, 'the work failed', Promise.resolve());
  await new Promise(setImmediate);
  assert.deepEqual(logged, [[{ error: 'no disk' }, 'the work failed']]);
});

test('an ignored failure causes no unhandled rejection, and other callers still receive it', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const failing = Promise.reject(new Error('no disk'));
  ignoreFailure(failing, 'it is awaited below');
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  assert.deepEqual(unhandled, []);
  await assert.rejects(failing, /no disk/);
});
