import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Listeners } from './listeners.ts';

test('listeners are called in subscription order, until unsubscribed', () => {
  const listeners = new Listeners<[number]>();
  const calls: string[] = [];
  listeners.publish(0);
  const end = listeners.subscribe((value) => calls.push(`first ${value}`));
  listeners.subscribe((value) => calls.push(`second ${value}`));
  listeners.publish(1);
  end();
  listeners.publish(2);
  assert.deepEqual(calls, ['first 1', 'second 1', 'second 2']);
});
