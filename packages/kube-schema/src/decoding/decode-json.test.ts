import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from '../schema/schema.ts';
import { decodeJson, strictDecodingMessage } from './decode-json.ts';
import type { JsonPath } from './problems.ts';

const schema = await Schema.load();

const decode = (kind: string, value: unknown, duplicates?: JsonPath[]) =>
  decodeJson(value, { schema, type: schema.type(kind), duplicates });

/** Checks the decoded object against the JSON that Go would encode from it. */
function check(kind: string, value: unknown, expected: object): void {
  assert.deepEqual(decode(kind, value).object, expected);
}

function problems(kind: string, value: unknown, expected: string[], duplicates?: JsonPath[]): void {
  assert.deepEqual(decode(kind, value, duplicates).problems, expected);
}

const refuse = (kind: string, value: unknown, message: string) =>
  assert.throws(() => decode(kind, value), { code: 'invalid_argument', message });

const DEPLOYMENT = 'apps.v1.Deployment';
const inTemplate = (container: object) => ({ spec: { template: { spec: { containers: [container] } } } });

describe('strict problems', () => {
  it('are unknown fields, also those with another case', () => {
    problems(DEPLOYMENT, { spec: { foo: 1, Replicas: 1 }, x: null }, [
      'unknown field "spec.foo"',
      'unknown field "spec.Replicas"',
      'unknown field "x"',
    ]);
    problems(DEPLOYMENT, inTemplate({ name: 'a', imagee: 'b' }), [
      'unknown field "spec.template.spec.containers[0].imagee"',
    ]);
    problems(
      'core.v1.Pod',
      { metadata: { labels: { anything: 'a' } }, spec: { volumes: [{ name: 'v', volumeSource: {} }] } },
      ['unknown field "spec.volumes[0].volumeSource"'],
    );
  });

  it('are duplicate fields, at the first place of each', () => {
    const value = { spec: { replicas: 1, foo: 1 }, metadata: { labels: { a: '1' } } };
    const duplicates = [
      ['metadata', 'labels', 'a'],
      ['spec', 'replicas'],
      ['spec', 'foo'],
    ];
    const expected = [
      'duplicate field "spec.replicas"',
      'unknown field "spec.foo"',
      'duplicate field "metadata.labels.a"',
    ];
    problems(DEPLOYMENT, value, expected, duplicates);
    assert.equal(
      strictDecodingMessage(expected.slice(0, 2)),
      'strict decoding error: duplicate field "spec.replicas", unknown field "spec.foo"',
    );
  });

  it('are at most 100, each once', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x${index}`, 1]));
    assert.equal(decode(DEPLOYMENT, many).problems.length, 100);
  });

  it('do not include fields in the parts of a custom schema that Go decodes on its own', () => {
    const value = { properties: { a: { items: { unknown: 1 }, other: 1 } } };
    problems('apiextensions.v1.JSONSchemaProps', value, ['unknown field "properties.a.other"']);
  });
});

describe('an object', () => {
  it('loses unknown fields, nulls and empty values, as in Go', () => {
    const container = { name: 'a', foo: 1, args: [], env: null, stdin: false, resources: { limits: {} } };
    const spec = { containers: [container], nodeSelector: {}, securityContext: {}, priority: 0, hostNetwork: false };
    const expected = { containers: [{ name: 'a', resources: {} }], securityContext: {}, priority: 0 };
    check(
      'core.v1.Pod',
      { kind: 'Pod', apiVersion: 'v1', spec, x: 1 },
      { kind: 'Pod', apiVersion: 'v1', metadata: {}, spec: expected, status: {} },
    );
  });

  it('has canonical quantities, times and bytes', () => {
    const canonical = (cpu: unknown) => decode('core.v1.ResourceRequirements', { limits: { cpu } }).object;
    const cases: [unknown, string][] = [
      ...([
        ['1000m', '1'],
        ['0.5', '500m'],
        [2, '2'],
        ['1024Mi', '1Gi'],
        ['1.5Gi', '1536Mi'],
        ['1e4', '10e3'],
        ['1e3', '1e3'],
        ['0', '0'],
      ] as [unknown, string][]),
      ...([
        ['100M', '100M'],
        [' 1 ', '1'],
        ['1e-3', '1e-3'],
      ] as [unknown, string][]),
    ];
    for (const [given, cpu] of cases) assert.deepEqual(canonical(given), { limits: { cpu } }, String(given));
    check(
      'meta.v1.ObjectMeta',
      { creationTimestamp: '2026-01-02T05:04:05.123+02:00' },
      { creationTimestamp: '2026-01-02T03:04:05Z' },
    );
    check(
      'coordination.v1.LeaseSpec',
      { renewTime: '2026-01-02T03:04:05.000006Z' },
      { renewTime: '2026-01-02T03:04:05.000006Z' },
    );
    check('core.v1.Secret', { data: { a: 'YW\nI=', b: null } }, { metadata: {}, data: { a: 'YWI=', b: '' } });
  });

  it('may have lists of strings in maps, and schemas of custom resources', () => {
    const user = { extra: { a: ['b'] } };
    check('authentication.v1.UserInfo', user, user);
    refuse(
      'authentication.v1.UserInfo',
      { extra: { a: 'b' } },
      'json: cannot unmarshal string into Go struct field UserInfo.extra of type v1.ExtraValue',
    );
    const custom = {
      type: 'object',
      properties: { a: { additionalProperties: { type: 'string' } }, b: { items: [{ type: 'x' }] } },
      default: { a: null },
    };
    check('apiextensions.v1.JSONSchemaProps', custom, custom);
  });
});
