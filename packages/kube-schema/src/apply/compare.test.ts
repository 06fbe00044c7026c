import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JsonObject } from '../json.ts';
import { Schema } from '../schema/schema.ts';
import { compareObjects } from './compare.ts';
import { formatFieldsV1 } from './fields-v1.ts';
import { structNode } from './node.ts';
import { toFieldSet } from './to-field-set.ts';

const schema = await Schema.load();

function check(type: string, [before, after]: [JsonObject, JsonObject], expected: Record<string, JsonObject>): void {
  const { added, modified, removed } = compareObjects(structNode(schema, schema.type(type)), before, after);
  const none = { added: {}, modified: {}, removed: {} };
  const found = { added: formatFieldsV1(added), modified: formatFieldsV1(modified), removed: formatFieldsV1(removed) };
  assert.deepEqual(found, { ...none, ...expected });
}

const META = 'meta.v1.ObjectMeta';

it('objects differ in the fields that one lacks or that have another value', () => {
  const before = { name: 'a', labels: { x: '1', y: '1' }, finalizers: ['f'] };
  const after = { labels: { x: '2', z: '1' }, finalizers: ['g'] };
  check(META, [before, after], {
    added: { 'f:finalizers': { 'v:"g"': {} }, 'f:labels': { 'f:z': {} } },
    modified: { 'f:labels': { 'f:x': {} } },
    removed: { 'f:finalizers': { 'v:"f"': {} }, 'f:labels': { 'f:y': {} }, 'f:name': {} },
  });
});

it('a map or list that appears is added with its content', () => {
  check(META, [{}, { labels: { a: '1' } }], { added: { 'f:labels': { '.': {}, 'f:a': {} } } });
  check(META, [{ labels: null }, { labels: { a: '1' } }], { added: { 'f:labels': { 'f:a': {} } } });
});

it('null and an empty map differ', () => {
  check(META, [{ labels: {} }, { labels: null }], { modified: { 'f:labels': {} } });
});

it('elements of a list with the same key are one field', () => {
  const env = (...values: string[]) => ({ env: values.map((value) => ({ name: 'a', value })) });
  const element = 'k:{"name":"a"}';
  const whole = { '.': {}, 'f:name': {}, 'f:value': {} };
  check('core.v1.Container', [env('1', '2'), env('1', '3')], { modified: { 'f:env': { [element]: {} } } });
  check('core.v1.Container', [env('1', '2'), env('1')], {
    added: { 'f:env': { [element]: whole } },
    removed: { 'f:env': { [element]: {} } },
  });
  check('core.v1.Container', [env('1'), env('1', '2')], {
    added: { 'f:env': { [element]: {} } },
    removed: { 'f:env': { [element]: whole } },
  });
  const set = toFieldSet(structNode(schema, schema.type('core.v1.Container')), env('1', '2'));
  assert.deepEqual(formatFieldsV1(set), { 'f:env': { [element]: {} } });
});
