import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceNumbers } from './devices.ts';

test('device numbers are unpacked', () => {
  const check = (rdev: number, major: number, minor: number) => assert.deepEqual(deviceNumbers(rdev), { major, minor });
  check(0x103, 1, 3);
  check(0x8800, 136, 0);
});
