import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTimeoutMs } from './deadlines.ts';

const MINUTE = 60_000;

test('calls have the same deadlines as the kubelet’s', () => {
  const check = (method: string, timeout: bigint | undefined, expected: number) =>
    assert.equal(defaultTimeoutMs(method, { timeout }), expected, `${method} ${timeout}`);
  check('version', undefined, 2 * MINUTE);
  check('runPodSandbox', undefined, 4 * MINUTE);
  check('stopContainer', 30n, 2 * MINUTE + 30_000);
  check('stopContainer', -1n, 2 * MINUTE);
  check('checkpointContainer', 0n, 2 * MINUTE);
  check('execSync', 10n, 2 * MINUTE + 10_000);
  check('execSync', 0n, Number.POSITIVE_INFINITY);
  check('pullImage', undefined, Number.POSITIVE_INFINITY);
  check('getContainerEvents', undefined, Number.POSITIVE_INFINITY);
  check('streamContainers', undefined, 2 * MINUTE);
});
