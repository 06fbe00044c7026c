import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { policyErrors } from './policy-errors.ts';

const policy = (spec: object): ApiObject => ({ metadata: { name: 'p' }, spec });

const validations = (...expressions: (string | object)[]) => ({
  validations: expressions.map((one) => (typeof one === 'string' ? { expression: one } : one)),
});

test('policies with invalid expressions are rejected', () => {
  const errors = (spec: object) => policyErrors(policy(spec)).map(({ field, message }) => `${field}: ${message}`);
  assert.deepEqual(errors(validations('object.a == params.b')), [
    `spec.validations[0].expression: Invalid value: "object.a == params.b": compilation failed: ERROR: <input>:1:13: undeclared reference to 'params' (in container '')\n | object.a == params.b\n | ............^`,
  ]);
  assert.deepEqual(errors(validations('1', { expression: 'true', messageExpression: '2' })), [
    'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
    'spec.validations[1].messageExpression: Invalid value: "2": must evaluate to string but got int',
  ]);
  assert.match(
    errors({ variables: [{ name: 'x', expression: '1' }], ...validations('variables.x == "a"') })[0]!,
    /applied to '\(int, string\)'/,
  );
  assert.match(
    errors({ matchConditions: [{ name: 'a', expression: 'variables.x' }] })[0]!,
    /^spec.matchConditions\[0\].*undeclared reference/,
  );
  assert.match(
    errors({ auditAnnotations: [{ key: 'a', valueExpression: '1' }] })[0]!,
    /must evaluate to one of \[string null_type\] but got int/,
  );
});

test('policies with too many expressions are refused before they are compiled', () => {
  const long = Array(20_000).fill('true').join('&&');
  const [error, ...more] = policyErrors(policy(validations(long, long, long)));
  assert.deepEqual([error?.field, error?.reason, more], ['spec', 'FieldValueForbidden', []]);
});
