import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import type { FieldValidation } from './field-validation.ts';
import type { PatchMediaType } from './media-type.ts';
import { patchMediaType, readPatch } from './read-patch.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

const warnings: string[] = [];
const read = (text: string, mediaType: PatchMediaType, fieldValidation: FieldValidation = 'Warn') =>
  readPatch(Buffer.from(text), mediaType, { fieldValidation, warn: (message) => warnings.push(message) });

const refuses = (text: string, mediaType: PatchMediaType, message: string | RegExp, validation?: FieldValidation) =>
  assert.throws(
    () => read(text, mediaType, validation),
    (error) => {
      assert.ok(error instanceof ApiError && error.status.code === 400, String(error));
      if (typeof message === 'string') assert.equal(error.message, message);
      else assert.match(error.message, message);
      return true;
    },
  );

test('accepts the four patch types, and rejects others', () => {
  for (const type of [JSON_PATCH, MERGE, STRATEGIC, APPLY])
    assert.equal(patchMediaType(`${type}; charset=utf-8`), type);
  for (const type of ['', 'application/json', 'application/apply-patch+cbor'])
    assert.throws(() => patchMediaType(type), { message: '415: Unsupported Media Type' });
});

test('parses patches, and reports the same problems as upstream', () => {
  assert.deepEqual(read('{"a":1,"a":{"b":2,"b":3}}', MERGE), {
    mediaType: MERGE,
    patch: { a: { b: 3 } },
    problems: ['duplicate field "a"', 'duplicate field "a.b"'],
  });
  assert.deepEqual(read('[{"op":"add","op":"add","path":"/a","x":1}]', JSON_PATCH).problems, [
    'json patch duplicate field "[0].op"',
    'json patch unknown field "[0].x"',
  ]);
  assert.deepEqual(read('{"a":1,"a":2}', STRATEGIC, 'Ignore').problems, []);
});

test('parses apply configurations as YAML', () => {
  assert.deepEqual(read('a: 1\nb: [x]\n', APPLY).patch, { a: 1, b: ['x'] });
  assert.deepEqual(read('a: 1\na: 2\n', APPLY).patch, { a: 2 });
  assert.deepEqual(warnings.splice(0), ['line 2: key "a" already set in map']);
  refuses(
    'a: 1\na: 2\n',
    APPLY,
    'error strict decoding YAML: yaml: unmarshal errors:\n  line 2: key "a" already set in map',
    'Strict',
  );
});

test('refuses malformed patches', () => {
  refuses('{', MERGE, 'error decoding patch: unexpected end of JSON input');
  refuses('x', JSON_PATCH, "error decoding patch: invalid character 'x' looking for beginning of value");
  refuses('', STRATEGIC, 'unexpected end of JSON input');
  refuses('a: [', APPLY, /^error decoding YAML: error converting YAML to JSON: yaml: line 1: /);
});

test('a JSON apply patch is not subject to the limits of YAML', () => {
  const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, '']));
  assert.deepEqual(read(JSON.stringify({ data }), APPLY).patch, { data });
  assert.deepEqual(read('{a: 1, b: [x]}', APPLY).patch, { a: 1, b: ['x'] });
  refuses('{"a":1,"a":2}', APPLY, /line 1: key "a" already set in map/, 'Strict');
});
