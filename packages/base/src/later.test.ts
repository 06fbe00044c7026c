import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Later } from './later.ts';

test('a piece begins once: after the delay, or as soon as it is asked for', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const begun: string[] = [];
  const later = new Later(30);
  const add = (key: string, name = key) => later.add(key, () => begun.push(name));
  add('patient');
  add('wanted');
  add('replaced', 'older');
  add('replaced', 'newer');
  later.begin('wanted');
  later.begin('unknown');
  assert.deepEqual(begun, ['wanted']);
  context.mock.timers.tick(29);
  add('last');
  context.mock.timers.tick(1);
  assert.deepEqual(begun, ['wanted', 'patient', 'newer']);
  later.beginAll();
  add('forgotten');
  later.close();
  context.mock.timers.tick(30);
  assert.deepEqual(begun, ['wanted', 'patient', 'newer', 'last']);
});
