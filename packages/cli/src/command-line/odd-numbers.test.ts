import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidArgumentError } from 'commander';
import { count, graceSeconds, positiveSeconds, signedSeconds, timeout } from './options.ts';

const ODD = [
  '',
  '-',
  '-1',
  '0x10',
  '1e3',
  '1_000',
  '1.5.2',
  'NaN',
  'Infinity',
  '∞',
  '1d',
  '5 s',
  `${2 ** 63}`,
  '9'.repeat(400),
];

test('an odd number on the command line is refused or parsed as a finite number', () => {
  const refused = new Map<string, string[]>();
  for (const read of [count, graceSeconds, positiveSeconds, signedSeconds, timeout])
    for (const text of [...ODD, `${'9'.repeat(400)}h`]) {
      try {
        const value = read(text);
        assert.ok(Number.isFinite(value), `${read.name} ${text}: ${value}`);
      } catch (error) {
        assert.ok(error instanceof InvalidArgumentError, `${read.name} ${text}: ${error}`);
        refused.set(read.name, [...(refused.get(read.name) ?? []), text]);
      }
    }
  for (const name of ['count', 'graceSeconds', 'positiveSeconds', 'signedSeconds', 'timeout'])
    for (const text of ['', 'NaN', 'Infinity', '1_000', '9'.repeat(400)])
      assert.ok(refused.get(name)?.includes(text), `${name} takes ${text.slice(0, 20)}`);
});

test('numbers up to the limits are accepted', () => {
  assert.equal(count('9007199254740991'), Number.MAX_SAFE_INTEGER);
  assert.equal(positiveSeconds('2562047h'), 2562047 * 3_600_000);
  assert.equal(graceSeconds('2592000'), 2_592_000);
});
