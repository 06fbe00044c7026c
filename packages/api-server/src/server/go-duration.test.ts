import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGoDuration } from './go-duration.ts';

test('parses durations like Go', () => {
  const check = (text: string, expected: number | undefined) => assert.equal(parseGoDuration(text), expected, text);
  check('1m30s', 90_000);
  check('1.5h', 5_400_000);
  check('.5s', 500);
  check('1.s', 1000);
  check('10ms', 10);
  check('2us', 0.002);
  check('0', 0);
  check('-1s', -1000);
  check('+1s', 1000);
  for (const text of ['', '1', 's', '1x', '1s ', '1 s', '1,5s', '--1s', '1d', `${'1'.repeat(200)}s`])
    check(text, undefined);
});
