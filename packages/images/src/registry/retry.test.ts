import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { RegistryStatusError } from './registry-error.ts';
import { isTransient, isTransientOnceStarted, withRetries } from './retry.ts';

const policy = { initialDelayMs: 0, maxDelayMs: 0, maxFailures: 3, maxFailuresInAll: 10 };
const { signal } = new AbortController();
const status = (code: number, headers = {}): RegistryStatusError =>
  new RegistryStatusError({ status: code, headers }, 'x');
const connection = (code: string): PodwrightError =>
  new PodwrightError('unavailable', 'x', { cause: Object.assign(new Error('x'), { code }) });

test('transient errors are distinguished from permanent ones, before and after a transfer has started', () => {
  const cases: [unknown, boolean, boolean][] = [
    [status(503), true, true],
    [status(429), true, true],
    [status(429, { 'retry-after': '2' }), true, true],
    [status(429, { 'retry-after': '3600' }), false, false],
    [status(404), false, false],
    [status(401), false, false],
    [status(416), false, false],
    [connection('ECONNRESET'), true, true],
    [connection('ECONNREFUSED'), false, true],
    [connection('ENOTFOUND'), false, true],
    [new PodwrightError('deadline_exceeded', 'x'), true, true],
    [new PodwrightError('data_loss', 'x'), false, false],
    [new PodwrightError('unavailable', 'x', { cause: status(503) }), true, true],
    [new PodwrightError('not_found', 'x', { cause: status(404) }), false, false],
    [new PodwrightError('unavailable', 'x', { cause: connection('ECONNRESET') }), true, true],
  ];
  for (const [error, first, later] of cases) {
    assert.deepEqual([isTransient(error), isTransientOnceStarted(error)], [first, later], String(error));
  }
});

test('the failure count resets after progress, up to a total limit', async () => {
  const run = async (progress: () => number) => {
    let attempts = 0;
    const attempt = async () => {
      attempts++;
      throw status(503);
    };
    await assert.rejects(withRetries({ policy, signal, isRetryable: isTransient, progress, attempt }));
    return attempts;
  };
  assert.equal(await run(() => 0), 4);
  let bytes = 0;
  assert.equal(await run(() => bytes++), 11);
});

test('a permanent failure is thrown at once, and an abort takes precedence', async () => {
  let attempts = 0;
  const fail = async () => {
    attempts++;
    throw status(404);
  };
  await assert.rejects(withRetries({ policy, signal, isRetryable: isTransient, attempt: fail }));
  assert.equal(attempts, 1);
  const aborted = AbortSignal.abort(new Error('stop'));
  await assert.rejects(withRetries({ policy, signal: aborted, isRetryable: () => true, attempt: fail }), /stop/);
});
