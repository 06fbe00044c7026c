import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasInvalidNodeSelectorValues, validateNodeSelector } from './node-selector.ts';

const selector = (term: object) => ({ nodeSelectorTerms: [term] });
const at = 'f.nodeSelectorTerms[0]';

test('invalid node selector terms have upstream’s errors', () => {
  const check = (term: object, ...errors: string[]) =>
    assert.deepEqual(
      validateNodeSelector('f', selector(term)).map(({ field, message }) => `${field}: ${message}`),
      errors.map((error) => `${at}.${error}`),
    );
  const expression = (operator: string, values: string[], ...errors: string[]) =>
    check(
      { matchExpressions: [{ key: 'a', operator, values }] },
      ...errors.map((error) => `matchExpressions[0].${error}`),
    );
  expression('In', ['x']);
  expression('NotIn', [], "values: Required value: must be specified when `operator` is 'In' or 'NotIn'");
  expression('Exists', ['x'], "values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  expression('Gt', ['1']);
  expression(
    'Lt',
    ['1', '2'],
    "values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
  );
  expression('is', [], 'operator: Invalid value: "is": not a valid selector operator');
  check(
    { matchFields: [{ key: 'metadata.uid', operator: 'Exists' }] },
    'matchFields[0].operator: Invalid value: "Exists": not a valid selector operator',
    'matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key',
  );
  check(
    { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }] },
    "matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
  );
});

test('invalid label values are detected, and can be allowed', () => {
  const wrong = selector({ matchExpressions: [{ key: 'a', operator: 'In', values: ['_'] }] });
  assert.deepEqual(
    validateNodeSelector('f', wrong).map(({ field }) => field),
    [`${at}.matchExpressions[0].values[0]`],
  );
  assert.deepEqual(validateNodeSelector('f', wrong, { allowInvalidValues: true }), []);
  assert.deepEqual([hasInvalidNodeSelectorValues(wrong), hasInvalidNodeSelectorValues(selector({}))], [true, false]);
});
