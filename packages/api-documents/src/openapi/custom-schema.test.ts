import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CustomSchema } from '@podwright/kube-schema';
import { customSchema } from './custom-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Dialect } from './value-schemas.ts';

const OBJECT_FIELDS = ['apiVersion', 'kind', 'metadata'];
const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

const published = (schema: object, dialect: Dialect): JsonSchema =>
  customSchema({ schema: schema as CustomSchema }, { dialect, refer: () => undefined });

/** Checks the schema that the OpenAPI v2 or v3 document publishes for a property. */
function check(dialect: Dialect, property: object, expected: object): void {
  const { properties } = published({ type: 'object', properties: { property } }, dialect);
  assert.deepEqual(properties!.property, expected);
}

const OPEN = { 'x-kubernetes-preserve-unknown-fields': true };
const EMBEDDED = { type: 'object', 'x-kubernetes-embedded-resource': true };
const TEXT = { type: 'string' };

describe('the definition of a custom kind in OpenAPI v2', () => {
  it('has no fields if objects may have any field', () => {
    const schema = { type: 'object', description: 'Any.', properties: { x: TEXT }, required: ['x'], ...OPEN };
    assert.deepEqual(published(schema, 'v2'), { type: 'object' });
  });

  it('has neither a type nor fields for values that may be null', () => {
    check('v2', { type: 'string', nullable: true, pattern: 'a' }, { pattern: 'a' });
    check('v2', { type: 'object', nullable: true, properties: { x: TEXT } }, {});
    check('v2', { type: 'array', nullable: true, items: TEXT }, {});
  });

  it('does not require values that may be null', () => {
    const properties = { x: { ...TEXT, nullable: true }, y: TEXT };
    const object = { type: 'object', required: ['x', 'y'] };
    check('v2', { ...object, properties }, { type: 'object', required: ['y'], properties: { x: {}, y: TEXT } });
    const nullable = { ...TEXT, nullable: true };
    check('v2', { ...object, additionalProperties: nullable }, { type: 'object', additionalProperties: {} });
  });

  it('has no fields for values that may have unknown fields', () => {
    const object = { type: 'object', properties: { x: TEXT }, required: ['x'] };
    check('v2', { ...object, ...OPEN }, { required: ['x'], ...OPEN });
    check('v2', { type: 'array', items: TEXT, ...OPEN }, OPEN);
    check('v2', { ...EMBEDDED, ...OPEN }, { 'x-kubernetes-embedded-resource': true, ...OPEN });
  });

  it('has the limits of values, but neither defaults nor combinations', () => {
    const limits = { type: 'string', pattern: '^a', maxLength: 3, enum: ['a', 'ab'], example: 'a', title: 'A' };
    check('v2', { ...limits, default: 'a', anyOf: [{ minLength: 1 }], not: { maxLength: 0 } }, limits);
    check('v2', { 'x-kubernetes-int-or-string': true }, { 'x-kubernetes-int-or-string': true });
    check('v2', { type: 'object', additionalProperties: true }, { type: 'object', additionalProperties: true });
  });
});

describe('the definition of a custom kind in OpenAPI v3', () => {
  it('has the whole schema', () => {
    const text = { type: 'string', default: 'a', nullable: true, anyOf: [{ minLength: 1 }] };
    check('v3', text, text);
  });

  it('has the two types of a value that is a number or a text', () => {
    const mark = { 'x-kubernetes-int-or-string': true };
    check('v3', mark, { ...mark, anyOf: INT_OR_STRING });
    check('v3', { ...mark, anyOf: INT_OR_STRING }, { ...mark, anyOf: INT_OR_STRING });
    const anyOf = [{ pattern: 'a' }];
    check('v3', { ...mark, anyOf }, { ...mark, anyOf, allOf: [{ anyOf: INT_OR_STRING }] });
  });

  it('has the fields of embedded objects', () => {
    const { properties } = published({ type: 'object', properties: { inner: { ...EMBEDDED, ...OPEN } } }, 'v3');
    const inner = properties!.inner!;
    assert.deepEqual([Object.keys(inner.properties!), inner.required], [OBJECT_FIELDS, ['kind', 'apiVersion']]);
  });

  it('names the fields for field selectors', () => {
    const custom = { schema: { type: 'object' }, selectablePaths: ['.spec.color'] };
    const found = customSchema(custom, { dialect: 'v3', refer: () => undefined });
    assert.deepEqual(found['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.color' }]);
  });
});
