import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFieldsV1 } from '../apply/fields-v1.ts';
import { FieldUpdater } from '../apply/updater.ts';
import type { CustomSchema } from '../schema/custom-schema.ts';
import { Schema } from '../schema/schema.ts';
import { decodeJson } from './decode-json.ts';

const schema = await Schema.load();
const KIND = { group: 'example.com', version: 'v1', kind: 'Foo' };

function typeOf(spec: CustomSchema) {
  const names = { plural: 'foos', singular: 'foo', namespaced: true, verbs: ['get'], isCustom: true } as const;
  const type = { schema: { type: 'object', properties: { spec } } };
  schema.setCustomKinds([{ resource: { ...KIND, ...names }, type }]);
  return schema.kind(KIND)!;
}

const decode = (spec: unknown, given: CustomSchema, metadata: object = {}) =>
  decodeJson({ apiVersion: 'example.com/v1', kind: 'Foo', metadata, spec }, { schema, type: typeOf(given) });

test('custom kinds are found in addition to built-in ones', () => {
  typeOf({});
  assert.equal(schema.resource('example.com', 'v1', 'foos')?.kind, 'Foo');
  assert.equal(schema.kind({ ...KIND, kind: 'FooList' })?.byName.get('items')?.container, 'list');
  assert.equal(schema.kind({ ...KIND, kind: 'DeleteOptions' })?.name, 'meta.v1.DeleteOptions');
  assert.ok(schema.resources.some(({ plural }) => plural === 'foos'));
  schema.setCustomKinds([]);
  assert.equal(schema.resource('example.com', 'v1', 'foos'), undefined);
  assert.equal(schema.kind(KIND), undefined);
});

test('undeclared fields are pruned and reported', () => {
  const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { b: { type: 'object' } } };
  const list = { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } };
  const given: CustomSchema = {
    type: 'object',
    properties: { any, list, map: { type: 'object', additionalProperties: {} } },
  };
  const spec = { z: 1, list: [{ a: 'x', y: 1 }], any: { x: { y: 1 }, b: { no: 1 } }, map: { k: 1 } };
  const { object, problems } = decode(spec, given, { name: 'a', foo: 1 });
  assert.deepEqual(object.spec, { list: [{ a: 'x' }], any: { x: { y: 1 }, b: {} }, map: { k: 1 } });
  assert.deepEqual(problems, [
    'unknown field "spec.any.b.no"',
    'unknown field "spec.list[0].y"',
    'unknown field "spec.z"',
    'unknown field "metadata.foo"',
  ]);
});

test('defaults are set for absent values, and for null if not nullable', () => {
  const given: CustomSchema = {
    type: 'object',
    default: {},
    properties: {
      a: { type: 'string', default: 'x' },
      b: { type: 'string', nullable: true, default: 'y' },
      c: { type: 'string' },
      list: { type: 'array', items: { type: 'object', properties: { p: { type: 'integer', default: 1 } } } },
    },
  };
  assert.deepEqual(decode(undefined, given).object.spec, undefined);
  assert.deepEqual(decode({ a: null, b: null, c: null, list: [{}] }, given).object.spec, {
    ...{ a: 'x', b: null, list: [{ p: 1 }] },
  });
});

test('metadata of the wrong type is an error', () => {
  const message = 'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string';
  assert.throws(() => decode({}, { type: 'object' }, { labels: { a: 1 } }), { message });
});

test('lists and maps are merged according to the schema, and undeclared objects by field', () => {
  const keys = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'] };
  const item: CustomSchema = { type: 'object', properties: { n: { type: 'string' }, v: { type: 'string' } } };
  const properties: Record<string, CustomSchema> = {
    map: { type: 'array', ...keys, items: item },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    list: { type: 'array', items: { type: 'string' } },
    atom: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  const spec = { map: [{ n: 'a', v: 'b' }], set: ['x'], list: ['y'], atom: { a: 'z' }, any: { q: { r: [1] } } };
  const { object } = decode(spec, { type: 'object', properties });
  const updater = new FieldUpdater({ schema, type: typeOf({ type: 'object', properties }) });
  const managers = updater.update({ live: {}, object, managers: new Map(), manager: 'm' });
  const fields = formatFieldsV1(managers.get('m')!.fields) as Record<string, unknown>;
  assert.deepEqual(fields['f:spec'], {
    '.': {},
    'f:any': { '.': {}, 'f:q': { '.': {}, 'f:r': {} } },
    'f:atom': {},
    'f:list': {},
    'f:map': { '.': {}, 'k:{"n":"a"}': { '.': {}, 'f:n': {}, 'f:v': {} } },
    'f:set': { '.': {}, 'v:"x"': {} },
  });
});
