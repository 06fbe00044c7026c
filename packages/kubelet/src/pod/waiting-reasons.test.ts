import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitingReasons } from './waiting-reasons.ts';

const step = (error?: { reason: string; message: string }) => [
  { action: 'StartContainer' as const, target: 'app', error },
];

test('the waiting reason of a container is stored until it starts, truncated to the limit of a status', () => {
  const reasons = new WaitingReasons();
  reasons.record('u1', step({ reason: 'PostStartHookError', message: 'x'.repeat(70_000) }));
  assert.equal(reasons.get('u1', 'app')?.reason, 'PostStartHookError');
  assert.equal(reasons.get('u1', 'app')?.message.length, 4096);
  reasons.record('u1', step());
  assert.equal(reasons.get('u1', 'app'), undefined);
});
