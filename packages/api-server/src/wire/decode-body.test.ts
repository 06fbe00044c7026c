import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import { encodeObject, Schema } from '@podwright/kube-schema';
import { bodyMediaType, decodeBody } from './decode-body.ts';
import type { FieldValidation } from './field-validation.ts';
import type { ObjectMediaType } from './media-type.ts';

const schema = await Schema.load();
const JSON_TYPE = 'application/json';
const POD = { group: '', version: 'v1', kind: 'Pod' };

type Sent = {
  mediaType?: ObjectMediaType;
  fieldValidation?: FieldValidation;
  expected?: { group: string; version: string; kind: string };
};

function decode(
  body: string | Uint8Array,
  { mediaType = JSON_TYPE, fieldValidation = 'Warn', expected = POD }: Sent = {},
) {
  const warnings: string[] = [];
  const options = { schema, expected, fieldValidation, warn: (message: string) => warnings.push(message) };
  return { object: decodeBody(Buffer.from(body as string), mediaType, options), warnings };
}

function refuses(body: string | Uint8Array, message: string, sent?: Sent): void {
  assert.throws(
    () => decode(body, sent),
    (error) => {
      assert.ok(error instanceof ApiError, String(error));
      assert.deepEqual([error.status.code, error.message], [400, message]);
      return true;
    },
  );
}

test('decodes JSON, YAML and protobuf to the same object, with the kind from the URL', () => {
  const object = { metadata: { name: 'web' }, spec: { containers: [{ name: 'c', resources: {} }] }, status: {} };
  const whole = { kind: 'Pod', apiVersion: 'v1', ...object };
  assert.deepEqual(decode(JSON.stringify(object)).object, whole);
  const yaml = 'metadata:\n  name: web\nspec:\n  containers:\n  - name: c\n';
  assert.deepEqual(decode(yaml, { mediaType: 'application/yaml' }).object, whole);
  const protobuf = encodeObject(schema, whole);
  assert.deepEqual(decode(protobuf, { mediaType: 'application/vnd.kubernetes.protobuf' }).object, whole);
  assert.deepEqual(Object.keys(decode(JSON.stringify(object)).object).slice(0, 3), ['kind', 'apiVersion', 'metadata']);
  assert.deepEqual(decode('null').object.metadata, {});
  assert.deepEqual(decode('', { mediaType: 'application/yaml' }).object.metadata, {});
});

test('assumes JSON if there is no Content-Type, and rejects unknown types', () => {
  assert.equal(bodyMediaType(''), JSON_TYPE);
  assert.equal(bodyMediaType('application/yaml; charset=utf-8'), 'application/yaml');
  for (const type of ['text/plain', 'application/merge-patch+json', 'application/cbor', 'application/json2'])
    assert.throws(() => bodyMediaType(type), {
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    });
});

test('warns about unknown and duplicate fields, ignores them, or rejects them', () => {
  const body = '{"metadata":{"name":"a","name":"b"},"spec":{"x":1}}';
  const problems = ['duplicate field "metadata.name"', 'unknown field "spec.x"'];
  assert.deepEqual(decode(body).warnings, problems);
  assert.deepEqual(decode(body, { fieldValidation: 'Ignore' }).warnings, []);
  refuses(body, `Pod in version "v1" cannot be handled as a Pod: strict decoding error: ${problems.join(', ')}`, {
    fieldValidation: 'Strict',
  });
  const yaml = 'metadata: {name: a}\nspec:\n  x: 1\n  nodeName: n\n  nodeName: m\n';
  const mediaType = 'application/yaml';
  assert.deepEqual(decode(yaml, { mediaType }).warnings, [
    'line 5: key "nodeName" already set in map',
    'unknown field "spec.x"',
  ]);
  refuses(
    yaml,
    'Pod in version "v1" cannot be handled as a Pod: strict decoding error: yaml: unmarshal errors:\n  line 5: key "nodeName" already set in map, unknown field "spec.x"',
    { mediaType, fieldValidation: 'Strict' },
  );
});

test('rejects other kinds and versions with upstream’s messages', () => {
  const scheme = 'in scheme "pkg/api/legacyscheme/scheme.go:30"';
  refuses(
    '{"kind":"Service","apiVersion":"v1"}',
    'Service in version "v1" cannot be handled as a Pod: converting (v1.Service) to (core.Pod): unknown conversion',
  );
  refuses(
    '{"kind":"Foo","apiVersion":"v1"}',
    `Foo in version "v1" cannot be handled as a Pod: no kind "Foo" is registered for version "v1" ${scheme}`,
  );
  refuses(
    '{"apiVersion":"v2"}',
    `Pod in version "v2" cannot be handled as a Pod: no kind "Pod" is registered for version "v2" ${scheme}`,
  );
  const expected = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' };
  refuses(
    '{"apiVersion":"autoscaling/v1"}',
    'the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)',
    { expected },
  );
  const service = encodeObject(schema, { kind: 'Service', apiVersion: 'v1', metadata: {} });
  refuses(
    service,
    'Service in version "v1" cannot be handled as a Pod: converting (v1.Service) to (core.Pod): unknown conversion',
    { mediaType: 'application/vnd.kubernetes.protobuf' },
  );
});

test('rejects malformed bodies with upstream’s messages', () => {
  const unrecognized = 'the object provided is unrecognized (must be of type Pod): ';
  const prefix = `${unrecognized}couldn't get version/kind; json parse error: `;
  refuses('', `${prefix}unexpected end of JSON input (<empty>)`);
  refuses('kind: Pod', `${prefix}invalid character 'k' looking for beginning of value (6b696e643a20506f64)`);
  refuses(
    `{"kind":"Pod","metadata":{"name":"x"},}`,
    `${prefix}invalid character '}' looking for beginning of object key string ({"kind":"Pod","metadata":{"nam ...)`,
  );
  refuses(
    '{"kind":1}',
    `${prefix}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})`,
  );
  refuses('{"apiVersion":"a/b/c"}', `${unrecognized}unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})`);
  refuses(
    '{"spec":{"nodeName":1}}',
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string',
  );
  assert.throws(() => decode('[]'), /json: cannot unmarshal array into Go value of type struct \{ APIVersion/);
  assert.throws(() => decode('a: [', { mediaType: 'application/yaml' }), /\(must be of type Pod\): yaml: line 1: /);
  const mediaType = 'application/vnd.kubernetes.protobuf';
  refuses('', `${unrecognized}empty data (<empty>)`, { mediaType });
  assert.throws(() => decode('not protobuf', { mediaType }), ApiError);
});

test('bounds hostile bodies, and ignores inherited property names', () => {
  const deep = `{"metadata":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`;
  assert.throws(() => decode(deep), ApiError);
  assert.throws(() => decode(`{"spec":{"overhead":${'['.repeat(5000)}${']'.repeat(5000)}}}`), /exceeded max depth/);
  const bomb = [
    'a0: &a0 [x]',
    ...Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]`),
  ];
  assert.throws(() => decode(bomb.join('\n'), { mediaType: 'application/yaml' }), /too large after its aliases/);
  const { object, warnings } = decode(
    '{"__proto__":{"kind":"X"},"metadata":{"labels":{"__proto__":"y"}},"constructor":1}',
  );
  assert.deepEqual(warnings, ['unknown field "__proto__"', 'unknown field "constructor"']);
  assert.equal(Object.getPrototypeOf(object), Object.prototype);
  assert.deepEqual(Object.entries(object.metadata.labels!), [['__proto__', 'y']]);
});
