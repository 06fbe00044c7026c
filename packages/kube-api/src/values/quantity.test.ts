import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityInUnitsOf,
  quantityMilliValue,
  quantityValue,
} from './quantity.ts';

test('a quantity in whole units is rounded up', () => {
  const table: [string, bigint][] = [
    ['0', 0n],
    ['1', 1n],
    ['+3', 3n],
    ['100m', 1n],
    ['1100m', 2n],
    ['-1100m', -2n],
    ['1k', 1000n],
    ['64Mi', 67_108_864n],
    ['1.5Gi', 1_610_612_736n],
    ['.5Ki', 512n],
    ['5.', 5n],
    ['12e6', 12_000_000n],
    ['1E3', 1000n],
    ['1E', 10n ** 18n],
    ['2e-3', 1n],
    ['0.0000000001', 1n],
    ['100Ei', 2n ** 63n - 1n],
    ['1e400', 2n ** 63n - 1n],
  ];
  for (const [text, expected] of table) assert.equal(quantityValue(text), expected, text);
});

test('a quantity in milli-units is rounded up', () => {
  const table: [string, bigint][] = [
    ['0.5', 500n],
    ['250m', 250n],
    ['100u', 1n],
    ['1n', 1n],
    ['2', 2000n],
  ];
  for (const [text, expected] of table) assert.equal(quantityMilliValue(text), expected, text);
});

test('fractions of a nano-unit are rounded away from zero', () => {
  assert.equal(parseQuantity('0.1n').nanos, 1n);
  assert.equal(parseQuantity('-1.5n').nanos, -2n);
});

test('text that is not a quantity is refused', () => {
  for (const text of [
    '',
    '.',
    '-',
    'm',
    '1 Gi',
    '1GI',
    '1KB',
    '0x10',
    '1e',
    '1e5Ki',
    'NaN',
    '1_000',
    '1e99999',
    '1'.repeat(65),
  ]) {
    assert.equal(isQuantity(text), false, text);
    assert.throws(() => parseQuantity(text), { code: 'invalid_argument' }, text);
  }
});

test('quantities compare by amount rather than spelling', () => {
  assert.equal(compareQuantities('1', '1000m'), 0);
  assert.equal(compareQuantities('1Gi', '1G'), 1);
  assert.equal(compareQuantities('-1', '0'), -1);
});

test('a division rounds up to whole units, and a divisor of zero counts as one', () => {
  assert.equal(quantityInUnitsOf('1500m', '1'), 2n);
  assert.equal(quantityInUnitsOf('1500m', '1m'), 1500n);
  assert.equal(quantityInUnitsOf('100Mi', '1Mi'), 100n);
  assert.equal(quantityInUnitsOf('3', '0'), 3n);
});

test('an amount is formatted with the largest suffix of its kind without a fraction', () => {
  const check = (texts: string[], expected: string) => {
    const sum = texts.reduce((total, text) => total + parseQuantity(text).nanos, 0n);
    assert.equal(formatQuantity(sum, texts[0]!), expected);
  };
  check(['200m', '300m'], '500m');
  check(['500m', '1500m'], '2');
  check(['64Mi', '64Mi'], '128Mi');
  check(['1Gi', '1Mi'], '1025Mi');
  check(['1Ki', '1m'], '1024001m');
  check(['128M', '872M'], '1G');
  check(['0'], '0');
});
