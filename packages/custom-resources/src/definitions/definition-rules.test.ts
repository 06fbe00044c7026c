import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { definedKinds } from '../custom-kinds.ts';
import type { JsonSchema } from '../json-schema.ts';
import { conversionErrors, definitionSchemaErrors, hasRules, selectableErrors } from './definition-rules.ts';
import { hasCondition, withAcceptedNames, withCleanup, withoutCleanup } from './definition-status.ts';

const NOW = '2026-01-01T00:00:00Z';

function definition(spec: JsonSchema, more: object = {}, name = 'foos'): ApiObject {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const names = { plural: name, singular: 'foo', kind: 'Foo', listKind: 'FooList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema, ...more }];
  const metadata = { name: `${name}.example.com`, uid: name };
  return { metadata, spec: { group: 'example.com', scope: 'Namespaced', names, versions } } as never;
}

/** Asserts the validation errors for a definition whose `spec` has this schema. */
function check(spec: JsonSchema, ...expected: string[]): void {
  const start = 'spec.validation.openAPIV3Schema.properties[spec].';
  const errors = definitionSchemaErrors(definition(spec)).map(({ field, message }) => `${field}: ${message}`);
  assert.deepEqual(
    errors.map((one) => one.replace(start, '')),
    expected,
  );
}

// these errors were observed on kube-apiserver 1.36.2
test('nonstructural schemas have upstream’s errors', () => {
  check({ type: 'object' });
  check({}, 'type: Required value: must not be empty for specified object fields');
  check({ type: 'array' }, 'items: Required value: must be specified');
  check({ type: 'array', items: {} }, 'items.type: Required value: must not be empty for specified array items');
  check({ type: 'object', anyOf: [{ type: 'object' }] }, 'anyOf[0].type: Forbidden: must be empty to be structural');
  check({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] });
  check(
    { type: 'string', pattern: '(a' },
    'pattern: Invalid value: "(a": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(a`',
  );
});

test('invalid schemas have upstream’s errors', () => {
  const closed = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } };
  check(closed, 'additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive');
  check(
    { type: 'string', default: 1 as never },
    'default: Invalid value: "integer":  in body must be of type string: "integer"',
  );
  check(
    { type: 'object', default: { z: 1 }, properties: { a: { type: 'string' } } },
    'default: Invalid value: {"z":1}: must not have unknown fields',
  );
  check(
    { type: 'array', 'x-kubernetes-list-type': 'bag', items: { type: 'string' } },
    'x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
  );
  check(
    { type: 'array', 'x-kubernetes-list-type': 'map', items: { type: 'object' } },
    'x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
  );
});

test('a schema unchanged by an update is not validated again', () => {
  const old = definition({});
  assert.deepEqual(definitionSchemaErrors(old, old), []);
});

test('selectable fields must be scalars of the schema', () => {
  const schema: JsonSchema = { type: 'object', properties: { a: { type: 'string' } } };
  const errors = (jsonPath: string) =>
    selectableErrors(definition(schema, { selectableFields: [{ jsonPath }] })).map(({ message }) => message);
  assert.deepEqual(errors('.spec.a'), []);
  assert.deepEqual(errors('.spec.b'), [
    'Invalid value: ".spec.b": is an invalid path: does not refer to a valid field',
  ]);
});

test('CEL rules are found, and conversion webhooks are an error', () => {
  const withRules = definition({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self.a' }] });
  assert.ok(hasRules(withRules));
  assert.ok(!hasRules(definition({ type: 'object' })));
  const converted = { ...withRules, spec: { ...(withRules.spec as object), conversion: { strategy: 'Webhook' } } };
  assert.equal(conversionErrors(converted as never)[0]?.field, 'spec.conversion.strategy');
});

test('free names are accepted, conflicting ones are not', () => {
  const accepted = withAcceptedNames(definition({ type: 'object' }), [], NOW);
  assert.ok(hasCondition(accepted, 'Established') && hasCondition(accepted, 'NamesAccepted'));
  assert.deepEqual(withAcceptedNames(accepted, [], '2027-01-01T00:00:00Z'), accepted);
  const second = withAcceptedNames(definition({ type: 'object' }, {}, 'bars'), [accepted], NOW);
  assert.ok(!hasCondition(second, 'Established') && !hasCondition(second, 'NamesAccepted'));
  assert.match(
    JSON.stringify(second.status),
    /"reason":"ListKindConflict","message":"\\"FooList\\" is already in use"/,
  );
});

test('a definition that is being deleted waits for its objects, which can only be read and deleted', () => {
  const accepted = withAcceptedNames(definition({ type: 'object' }), [], NOW);
  const ending = withCleanup(accepted, NOW);
  assert.deepEqual(ending.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
  assert.ok(hasCondition(ending, 'Terminating'));
  assert.ok(!definedKinds(ending, true)?.versions[0]?.resource.verbs.includes('create'));
  assert.equal(withoutCleanup(ending).metadata.finalizers, undefined);
});
