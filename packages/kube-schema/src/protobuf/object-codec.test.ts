import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from '../schema/schema.ts';
import { decodeObject, encodeObject, isProtobufObject } from './object-codec.ts';

const schema = await Schema.load();

function envelope(apiVersion: string, kind: string, hex: string): Buffer {
  const field = (number: number, bytes: Buffer) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  const type = Buffer.concat([field(1, Buffer.from(apiVersion)), field(2, Buffer.from(kind))]);
  return Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, Buffer.from(hex.replaceAll(' ', ''), 'hex'))]);
}

/** Checks a decoded object, without `kind` and `apiVersion`, against the JSON that a Go program would print. */
function check(apiVersion: string, kind: string, [hex, expected]: [string, object]): void {
  assert.deepEqual(decodeObject(schema, envelope(apiVersion, kind, hex)), { kind, apiVersion, ...expected });
}

function checkRoundTrip(object: { apiVersion: string; kind: string; [field: string]: unknown }, shown = object): void {
  const bytes = encodeObject(schema, object);
  assert.ok(isProtobufObject(bytes));
  assert.deepEqual(decodeObject(schema, bytes), shown);
}

describe('an absent field', () => {
  it('is shown as by Go: structs that are no pointers, and lists without omitempty', () => {
    check('v1', 'Pod', ['', { metadata: {}, spec: { containers: null }, status: {} }]);
    check('v1', 'ConfigMap', ['', { metadata: {} }]);
    check('v1', 'Service', ['', { metadata: {}, spec: {}, status: { loadBalancer: {} } }]);
    check('v1', 'PodList', ['', { metadata: {}, items: null }]);
  });

  it('of a time is null unless it is left out', () => {
    const expected = { metadata: {}, involvedObject: {}, source: {}, firstTimestamp: null, lastTimestamp: null };
    check('v1', 'Event', ['', { ...expected, eventTime: null, reportingComponent: '', reportingInstance: '' }]);
  });
});

describe('a zero value', () => {
  it('is shown if the field is a pointer in Go, and otherwise left out', () => {
    // `spec.replicas` is a pointer, so its encoded zero is shown; `minReadySeconds` is not a pointer, so its zero is omitted
    const { spec } = decodeObject(schema, envelope('apps/v1', 'ReplicaSet', '12 04 08 00 20 00')) as { spec: object };
    assert.deepEqual(spec, { replicas: 0, selector: null, template: { metadata: {}, spec: { containers: null } } });
  });
});

describe('an object', () => {
  const metadata = { name: 'a', labels: { b: '2', a: '1' }, creationTimestamp: '2026-01-02T03:04:05Z' };

  it('has the same JSON after encoding and decoding', () => {
    const container = {
      name: 'main',
      resources: { limits: { cpu: '500m', memory: '1Gi' } },
      readinessProbe: { httpGet: { port: 'web' }, periodSeconds: 3 },
      ports: [{ containerPort: 80 }],
    };
    const volumes = [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }];
    checkRoundTrip({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata,
      spec: { containers: [container], volumes, terminationGracePeriodSeconds: -1 },
      status: {},
    });
  });

  it('may have bytes, durations, micro times and JSON of any form', () => {
    checkRoundTrip({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata,
      data: { a: Buffer.from([0, 255]).toString('base64') },
    });
    const spec = { renewTime: '2026-01-02T03:04:05.000006Z', leaseDurationSeconds: 0 };
    checkRoundTrip({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec });
    checkRoundTrip({
      kind: 'ControllerRevision',
      apiVersion: 'apps/v1',
      metadata,
      data: { a: [1, null] },
      revision: 2,
    });
    const managedFields = [{ manager: 'm', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { '.': {} } } }];
    checkRoundTrip({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { managedFields } });
  });

  it('may have lists of strings in a map, and schemas of custom resources', () => {
    const user = { username: 'u', extra: { a: ['1', '2'] } };
    const review = {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: {},
      status: { user },
    };
    checkRoundTrip(review);
    const properties = {
      any: { additionalProperties: true },
      typed: { additionalProperties: { type: 'string' }, default: { a: 1 }, maximum: 1.5, $ref: '#/x' },
      listed: { items: { type: 'integer', 'x-kubernetes-int-or-string': true }, enum: ['a', 1, null] },
    };
    const openAPIV3Schema = { type: 'object', properties };
    const versions = [{ name: 'v1', served: true, storage: false, schema: { openAPIV3Schema } }];
    checkRoundTrip({
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: {},
      spec: { group: 'g', names: { plural: 'p', kind: 'K' }, scope: 'Cluster', versions },
      status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null },
    });
  });

  it('has the keys of maps in the order of their bytes', () => {
    const encode = (data: object) => encodeObject(schema, { kind: 'ConfigMap', apiVersion: 'v1', data });
    assert.deepEqual(
      encode({ '\u{1f600}': '', '\ue000': '', b: '', a: '' }),
      encode({ a: '', b: '', '\ue000': '', '\u{1f600}': '' }),
    );
    const text = Buffer.from(encode({ '\u{1f600}': '', '\ue000': '', a: '' })).toString();
    assert.ok(text.indexOf('a') < text.indexOf('\ue000') && text.indexOf('\ue000') < text.indexOf('\u{1f600}'));
  });

  it('loses fields that the schema does not have', () => {
    const shown = { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} };
    checkRoundTrip({ ...shown, unknown: { a: 1 } } as never, shown);
  });

  it('keeps keys of maps that objects inherit', () => {
    const data = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    checkRoundTrip({ kind: 'ConfigMap', apiVersion: 'v1', metadata: {}, data });
  });

  it('gets the kind of the request if it has none', () => {
    const bytes = envelope('', '', '');
    const fallback = { apiVersion: 'v1', kind: 'ConfigMap' };
    assert.deepEqual(decodeObject(schema, bytes, { fallback }), { ...fallback, metadata: {} });
    assert.throws(() => decodeObject(schema, bytes), { code: 'not_found' });
  });
});

describe('values of wrong types', () => {
  it('are refused by the encoder with the field', () => {
    const refuse = (spec: object, message: RegExp) =>
      assert.throws(() => encodeObject(schema, { kind: 'Pod', apiVersion: 'v1', spec }), {
        code: 'invalid_argument',
        message,
      });
    refuse({ containers: {} }, /core\.v1\.PodSpec\.containers is no list/);
    refuse({ containers: ['a'] }, /core\.v1\.Container is no object/);
    refuse({ priority: 2 ** 31 }, /core\.v1\.PodSpec\.priority is no int32/);
    refuse({ priority: 1.5 }, /priority is no int32/);
    refuse({ hostNetwork: 'yes' }, /hostNetwork is no bool/);
    refuse({ nodeSelector: [] }, /nodeSelector is no map/);
    refuse({ containers: [{ ports: [{ hostIP: 1 }] }] }, /hostIP is no string/);
  });
});
