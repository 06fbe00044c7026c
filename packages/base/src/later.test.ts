import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Later } from './later.ts';

test('deferred work starts once: after the delay, or as soon as it is requested', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const begun: string[] = [];
  const later = new Later(30);
  const add = (key: string, name = key) => later.add(key, () => begun.push(name));
  add('patient');
  add('requested');
  add('replaced', 'older');
  add('replaced', 'newer');
  later.begin('requested');
  later.begin('unknown');
  assert.deepEqual(begun, ['requested']);
  context.mock.timers.tick(29);
  add('last');
  context.mock.timers.tick(1);
  assert.deepEqual(begun, ['requested', 'patient', 'newer']);
  later.beginAll();
  add('dropped');
  later.close();
  context.mock.timers.tick(30);
  assert.deepEqual(begun, ['requested', 'patient', 'newer', 'last']);
});
