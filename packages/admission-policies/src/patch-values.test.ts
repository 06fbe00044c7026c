import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '@podwright/cel';
import { configurationOf, jsonPatchOperations } from './patch-values.ts';
import { policyEnvironment, policyFunctions } from './policy-environment.ts';

const environment = policyEnvironment(policyFunctions(), { hasParams: false, hasAuthorizer: false, hasPatches: true });

function evaluated(expression: string) {
  const outcome = compile(expression, environment).evaluate({});
  if ('error' in outcome) throw new Error(String(outcome.error));
  return outcome.value;
}

const patchValue = (expression: string) => {
  const [operation] = jsonPatchOperations(evaluated(`[JSONPatch{op: "add", path: "/data/a", value: ${expression}}]`));
  return (operation as { value: unknown }).value;
};

test('bytes, timestamps and durations are strings in JSON patches', () => {
  const cases: [string, unknown][] = [
    ['b"abc"', 'YWJj'],
    ['timestamp("2026-01-02T03:04:05.5Z")', '2026-01-02T03:04:05.5Z'],
    ['duration("90s")', '90s'],
    ['{"a": b"abc"}', { a: 'YWJj' }],
    ['[1, 2]', [1, 2]],
    ['null', null],
  ];
  for (const [expression, expected] of cases) assert.deepEqual(patchValue(expression), expected, expression);
  for (const expression of ['double("NaN")', '9007199254740993', 'type(1)'])
    assert.throws(() => patchValue(expression), /could not be converted to JSON/, expression);
});

test('apply configurations contain no bytes, timestamps or durations', () => {
  for (const value of ['b"abc"', 'duration("90s")'])
    assert.throws(() => configurationOf(evaluated(`Object{data: ${value}}`)), /could not be converted to JSON/, value);
});
