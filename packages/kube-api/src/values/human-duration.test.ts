import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanDuration } from './human-duration.ts';

test('durations are formatted like in Kubernetes tables', () => {
  const check = (seconds: number, expected: string) => assert.equal(humanDuration(seconds * 1000), expected);
  const [minute, hour, day] = [60, 3600, 86_400];
  check(-5, '<invalid>');
  check(-1, '0s');
  check(0.9, '0s');
  check(119, '119s');
  check(2 * minute, '2m');
  check(2 * minute + 1, '2m1s');
  check(10 * minute + 59, '10m');
  check(179 * minute, '179m');
  check(3 * hour, '3h');
  check(7 * hour + 5 * minute, '7h5m');
  check(47 * hour, '47h');
  check(2 * day, '2d');
  check(7 * day + 3 * hour, '7d3h');
  check(729 * day, '729d');
  check(730 * day, '2y');
  check(800 * day, '2y70d');
  check(9 * 365 * day + 5 * day, '9y');
});
