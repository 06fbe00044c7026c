import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  hasInvalidSelectorValues,
  matchesRequirements,
  matchesSelector,
  selectorRequirements,
  validateLabelSelector,
} from './labels.ts';

const summary = (errors: { field: string; message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message.slice(0, 55).trim()}`);

const expression = (key: string, operator: string, values?: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});

/** Asserts which errors a label selector with this single expression causes. */
function check(selector: object, expected: string[]): void {
  assert.deepEqual(summary(validateLabelSelector('s', selector)), expected);
}

describe('a label selector', () => {
  it('has known operators with suitable values', () => {
    check({}, []);
    check(expression('a', 'In', ['b']), []);
    check(expression('a', 'Exists'), []);
    check(expression('a', 'NotIn'), [
      "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'I",
    ]);
    check(expression('a', 'DoesNotExist', ['b']), [
      "s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exi",
    ]);
    check(expression('a', 'Gt', ['1']), [
      's.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator',
    ]);
  });

  it('has valid keys and values', () => {
    check({ matchLabels: { 'a b': 'c', d: '-' } }, [
      's.matchLabels: Invalid value: "a b": name part must consist of alphanu',
      's.matchLabels: Invalid value: "-": a valid label must be an empty stri',
    ]);
    const invalid = expression('', 'In', ['b', '?']);
    assert.deepEqual(
      validateLabelSelector('s', invalid).map(({ field }) => field),
      ['s.matchExpressions[0].key', 's.matchExpressions[0].key', 's.matchExpressions[0].values[1]'],
    );
    assert.equal(hasInvalidSelectorValues(invalid), true);
    assert.equal(validateLabelSelector('s', invalid, { allowInvalidValues: true }).length, 2);
  });

  it('matches labels', () => {
    const labels = { app: 'web', tier: '' };
    assert.equal(matchesSelector({ matchLabels: { app: 'web' } }, labels), true);
    assert.equal(matchesSelector({ matchLabels: { app: 'db' } }, labels), false);
    assert.equal(matchesSelector({}, undefined), true);
    assert.equal(matchesSelector(undefined, labels), false);
    assert.equal(matchesSelector(expression('app', 'In', ['a', 'web']), labels), true);
    assert.equal(matchesSelector(expression('x', 'NotIn', ['a']), labels), true);
    assert.equal(matchesSelector(expression('app', 'NotIn', ['web']), labels), false);
    assert.equal(matchesSelector(expression('tier', 'Exists'), labels), true);
    assert.equal(matchesSelector(expression('constructor', 'Exists'), labels), false);
    assert.equal(matchesSelector(expression('tier', 'DoesNotExist'), labels), false);
    assert.equal(matchesSelector(expression('tier', 'Unknown'), labels), false);
  });

  it('has requirements sorted by key', () => {
    const selector = { matchLabels: { b: '1' }, ...expression('a', 'Exists') };
    const requirements = selectorRequirements(selector);
    assert.deepEqual(requirements, [
      { key: 'a', operator: 'Exists', values: [] },
      { key: 'b', operator: 'In', values: ['1'] },
    ]);
    assert.equal(matchesRequirements(requirements, { a: '', b: '1' }), true);
    assert.equal(selectorRequirements(undefined), undefined);
  });
});
