import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Patterns } from '@podwright/cel/patterns';
import type { JsonSchema } from '../json-schema.ts';
import { embeddedErrors } from './embedded-objects.ts';
import { repeatedItems } from './unique-items.ts';
import { validateValue } from './validate-value.ts';

function errors(spec: unknown, schema: JsonSchema, old?: unknown): string[] {
  const root: JsonSchema = { type: 'object', properties: { spec: schema } };
  const before = old === undefined ? undefined : { spec: old };
  const object = { spec };
  return [
    ...validateValue(object, root, { patterns: new Patterns(), path: '', old: before }),
    ...repeatedItems(object, root, { path: '', old: before }),
    ...embeddedErrors(object, root, ''),
  ].map(({ field, message }) => `${field}: ${message}`);
}

// these errors were observed on kube-apiserver 1.36.2
test('invalid values have upstream’s errors', () => {
  const cases: [schema: JsonSchema, value: unknown, ...expected: string[]][] = [
    [{ type: 'integer' }, 'x', 'Invalid value: "string": spec in body must be of type integer: "string"'],
    [{ type: 'string' }, 1, 'Invalid value: "integer": spec in body must be of type string: "integer"'],
    [{ type: 'string' }, null, 'Invalid value: "null": spec in body must be of type string: "null"'],
    [{ type: 'number' }, 1],
    [{ type: 'string', nullable: true }, null],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      'Invalid value: "boolean": spec in body must be of type integer,string: "boolean"',
    ],
    [{ type: 'string', maxLength: 3 }, 'abcd', 'Too long: may not be more than 3 bytes'],
    [{ type: 'string', minLength: 2 }, 'a', 'Invalid value: "a": spec in body should be at least 2 chars long'],
    [{ type: 'string', pattern: '^a$' }, 'b', `Invalid value: "b": spec in body should match '^a$'`],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'Unsupported value: "c": supported values: "a", "b"'],
    [{ type: 'string', format: 'ipv4' }, 'x', 'Invalid value: "x": spec in body must be of type ipv4: "x"'],
    [
      { type: 'integer', maximum: 1_000_000 },
      10_000_000,
      'Invalid value: 10000000: spec in body should be less than or equal to 1000000',
    ],
    [
      { type: 'number', maximum: 1_000_000, exclusiveMaximum: true },
      1_000_000.5,
      'Invalid value: 1000000.5: spec in body should be less than 1e+06',
    ],
    [{ type: 'number', multipleOf: 0.5 }, 0.3, 'Invalid value: 0.3: spec in body should be a multiple of 0.5'],
    [{ type: 'array', maxItems: 1, items: { type: 'string' } }, ['a', 'b'], 'Too many: 2: must have at most 1 items'],
    [{ type: 'object', required: ['a'] }, {}],
    [{ type: 'object', minProperties: 1 }, {}, 'Invalid value: 0: spec in body should have at least 1 properties'],
  ];
  for (const [schema, value, ...expected] of cases)
    if (schema.required === undefined)
      assert.deepEqual(
        errors(value, schema),
        expected.map((one) => `spec: ${one}`),
      );
  assert.deepEqual(errors({}, { type: 'object', required: ['a'] }), ['spec.a: Required value']);
  assert.deepEqual(errors(['a', 1], { type: 'array', items: { type: 'string' } }), [
    'spec[1]: Invalid value: "integer": spec[1] in body must be of type string: "integer"',
  ]);
});

// cases from apiextensions-apiserver's validation_test.go
test('numbers must be within the range of their format', () => {
  const integer = (format: string): JsonSchema => ({ type: 'integer', format });
  const ranged = (prefix: string, type: string) =>
    `<nil>: Invalid value: "": ${prefix} value must be of type ${type} in spec`;
  const wrong = (type: string, found: string) =>
    `spec: Invalid value: "${found}": spec in body must be of type ${type}: "${found}"`;
  for (const value of [-(2 ** 31), 0, 2 ** 31 - 1]) assert.deepEqual(errors(value, integer('int32')), []);
  for (const value of [-(2 ** 31) - 1, 2 ** 31, 2 ** 53 - 1]) {
    assert.deepEqual(errors(value, integer('int32')), [ranged('Checked', 'integer with format int32')]);
    assert.deepEqual(errors(value, integer('int64')), []);
    assert.deepEqual(errors(value, integer('uint32')), [], 'an unknown format is ignored');
  }
  assert.deepEqual(errors(2 ** 63, integer('int64')), [ranged('Checked', 'integer with format int64')]);
  assert.deepEqual(errors(2 ** 63, { type: 'integer' }), [ranged('Checked', 'integer (default format)')]);
  assert.deepEqual(errors(-(2 ** 63), { type: 'integer' }), []);
  const float: JsonSchema = { type: 'number', format: 'float' };
  assert.deepEqual(errors(3.4e38, float), []);
  assert.deepEqual(errors(3.5e38, float), [ranged('Checked', 'number with format float')]);
  assert.deepEqual(errors(3.5e38, { type: 'number', format: 'double' }), []);
  assert.deepEqual(errors(1.5, integer('int32')), [
    wrong('int32', 'float64'),
    ranged('Checked', 'integer with format int32'),
  ]);
  assert.deepEqual(errors(true, integer('int32')), [wrong('int32', '')]);
  assert.deepEqual(errors('1', integer('int32')), [wrong('integer', 'string')]);
  assert.deepEqual(errors(5, { ...integer('int32'), maximum: 2 ** 31, minimum: -1.5, multipleOf: 2 ** 40 }), [
    ranged('MultipleOf', 'integer with format int32'),
    'spec: Invalid value: 5: spec in body should be a multiple of 1099511627776',
    ranged('Minimum boundary', 'integer with format int32'),
    ranged('Maximum boundary', 'integer with format int32'),
  ]);
});

test('schema combinations have errors without a path', () => {
  const oneOf = [{ required: ['a'] }, { required: ['b'] }];
  const schema: JsonSchema = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } }, oneOf };
  assert.deepEqual(errors({ a: 1 }, schema), []);
  assert.deepEqual(errors({ a: 1, b: 1 }, schema), [
    '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ]);
  assert.deepEqual(errors({}, schema), [
    '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
    'spec.a: Required value',
  ]);
  assert.deepEqual(errors(1, { type: 'integer', not: { minimum: 1 } }), [
    '<nil>: Invalid value: "": "spec" must not validate the schema (not)',
  ]);
});

test('elements of sets and maps must be unique', () => {
  const set: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
  assert.deepEqual(errors(['a', 'b', 'a', 'a'], set), ['spec[2]: Duplicate value: "a"']);
  const keys = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'] };
  const map: JsonSchema = { type: 'array', ...keys, items: { type: 'object', properties: { n: { type: 'string' } } } };
  assert.deepEqual(errors([{ n: 'a' }, { n: 'a' }], map), ['spec[1]: Duplicate value: {"n":"a"}']);
});

test('an embedded object needs a kind and an apiVersion', () => {
  const schema: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true };
  assert.deepEqual(errors({ kind: 'Pod' }, schema), ['spec.apiVersion: Required value']);
});

test('an update may keep an invalid value', () => {
  const schema: JsonSchema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } };
  assert.deepEqual(errors({ a: 1, b: 'x' }, schema, { a: 1, b: 'y' }), []);
  assert.equal(errors({ a: 2, b: 'x' }, schema, { a: 1, b: 'y' }).length, 1);
});

test('an object with a million invalid values has only the first errors', () => {
  const wrong = new Array(1_000_000).fill(0);
  const list: JsonSchema = { type: 'array', items: { type: 'string' } };
  const map: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };
  for (const [value, schema] of [
    [wrong, list],
    [{ ...wrong.slice(0, 200_000) }, map],
    [wrong, { allOf: Array(50).fill(list) }],
    [wrong, { anyOf: [list], oneOf: [list] }],
  ] as [unknown, JsonSchema][]) {
    const found = validateValue(value, schema, { patterns: new Patterns(), path: 'spec' });
    assert.equal(found.length, 100);
  }
});
