import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestContext } from '../request-context.ts';
import type { PatchRequest } from './patched-object.ts';
import { at, configMap, deployment, desired, refusal, TestRegistries } from './test-registries.fixture.ts';

const DEPLOYMENTS = 'deployments.apps/v1';
const TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const CONTAINER = { name: 'c', image: 'i' };
const template = (containers: object[]) => ({ template: { spec: { containers } } });

/** Creates a Deployment `a`, and returns a function that patches it. */
async function withDeployment() {
  const test = new TestRegistries();
  const registry = test.of(DEPLOYMENTS);
  const given = deployment('a', { replicas: 2, ...template([CONTAINER]) }, { labels: { x: '1' } });
  const made = await registry.create('default', given, test.context());
  const patch = async (
    type: keyof typeof TYPES,
    value: unknown,
    { context = {}, ...request }: Partial<PatchRequest> & { context?: Partial<RequestContext> } = {},
  ) => {
    const asked = { mediaType: TYPES[type], patch: value, ...request };
    return (await registry.patch(at('a'), asked, test.context(context))).object;
  };
  return { test, registry, made, patch };
}

describe('a patch', () => {
  it('changes the object by its type', async () => {
    const { patch } = await withDeployment();
    const json = await patch('json', [{ op: 'replace', path: '/spec/replicas', value: 3 }]);
    assert.deepEqual([desired(json), json.metadata.generation], ['3', 2]);
    const merged = await patch('merge', { metadata: { labels: { x: null, y: '2' } } });
    assert.deepEqual([merged.metadata.labels, merged.metadata.generation], [{ y: '2' }, 2]);
    const { spec } = await patch('strategic', { spec: template([{ name: 'c', image: 'j' }, { name: 'd' }]) });
    const { containers } = (spec as ReturnType<typeof template>).template.spec;
    assert.deepEqual(
      containers.map((one) => (one as typeof CONTAINER).image),
      ['j', undefined],
    );
  });

  it('that removes a field with a default restores it', async () => {
    const { patch } = await withDeployment();
    assert.equal(desired(await patch('merge', { spec: { replicas: null } })), '1');
  });

  it('is tracked as an update, and one without effect is not stored', async () => {
    const { test, made, patch } = await withDeployment();
    const { revision } = test.store;
    assert.deepEqual(await patch('merge', { spec: { replicas: 2 } }), made);
    assert.deepEqual(await patch('strategic', {}), made);
    assert.deepEqual(await patch('json', []), made);
    assert.equal(test.store.revision, revision);
    const { metadata } = await patch('merge', { spec: { replicas: 4 } }, { context: { fieldManager: 'm' } });
    const entries = metadata.managedFields as { manager: string; operation: string }[];
    assert.deepEqual(
      entries.map(({ manager, operation }) => `${manager} ${operation}`),
      ['m Update', 'tester Update'],
    );
  });

  it('with a version is conditional', async () => {
    const { made, patch } = await withDeployment();
    const { resourceVersion } = made.metadata;
    await patch('merge', { metadata: { resourceVersion }, spec: { replicas: 3 } });
    const again = () => patch('merge', { metadata: { resourceVersion }, spec: { replicas: 4 } });
    assert.equal((await refusal(again)).reason, 'Conflict');
  });

  it('that fails is answered in upstream’s words', async () => {
    const { patch, test, registry } = await withDeployment();
    const check = async (work: () => unknown, code: number, message: string) => {
      const status = await refusal(work);
      assert.deepEqual([status.code, status.message], [code, message]);
    };
    const rejected = 'the server rejected our request due to an error in our request';
    await check(() => patch('json', [{ op: 'test', path: '/kind', value: 'x' }]), 422, rejected);
    await check(() => patch('json', [{ op: 'remove', path: '/spec/none' }]), 422, rejected);
    await check(
      () => patch('json', {}),
      400,
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
    const wrong = (type: string) => `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
    await check(() => patch('merge', []), 400, `error decoding patch: ${wrong('array')}`);
    await check(() => patch('strategic', 'x'), 400, wrong('string'));
    const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Deployment' }));
    await check(
      () => patch('json', many),
      413,
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
    await check(
      () => patch('strategic', { spec: { replicas: 'x' } }),
      422,
      ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: int32',
    );
    await check(
      () => patch('merge', { metadata: { name: 'b' } }),
      400,
      'the name of the object (b) does not match the name on the URL (a)',
    );
    await check(
      () => patch('merge', { metadata: { namespace: 'b' } }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    );
    const uid = await refusal(() => patch('merge', { metadata: { uid: 'x' } }));
    assert.match(uid.message, /metadata.uid: Invalid value: "x": field is immutable/);
    const absent = await refusal(() => registry.patch(at('b'), { mediaType: TYPES.merge, patch: {} }, test.context()));
    assert.equal(absent.message, 'deployments.apps "b" not found');
  });

  it('of null is empty, except for a merge patch', async () => {
    const { patch, made } = await withDeployment();
    assert.deepEqual(await patch('strategic', null), made);
    assert.deepEqual(await patch('json', null), made);
    const { code, message } = await refusal(() => patch('merge', null));
    assert.deepEqual([code, message], [400, 'Invalid JSON Patch']);
  });

  it('cannot change the kind', async () => {
    const { patch, made } = await withDeployment();
    for (const value of [{ kind: 'Pod', apiVersion: 'v1' }, { kind: null }, { apiVersion: null }])
      assert.deepEqual(await patch('strategic', value), made);
    assert.deepEqual(await patch('merge', { kind: null }), made);
    const check = async (value: object, text: string) => {
      const { message } = await refusal(() => patch('merge', value));
      assert.equal(message.slice(-text.length), text);
    };
    const scheme = 'in scheme "pkg/api/legacyscheme/scheme.go:30"';
    await check({ kind: 'Foo' }, `no kind "Foo" is registered for version "apps/v1" ${scheme}`);
    await check({ kind: 'Pod', apiVersion: 'v1' }, 'converting (v1.Pod) to (apps.Deployment): unknown conversion');
    await check(
      { kind: 7 },
      'json parse error: json: cannot unmarshal number into Go struct field .kind of type string',
    );
    await check({ apiVersion: 'a/b/c' }, 'unexpected GroupVersion string: a/b/c');
    await check(
      { apiVersion: null },
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    );
    const wrong = await refusal(() => patch('strategic', { kind: 7 }));
    assert.match(wrong.message, /map\[kind:7\]": cannot convert int64 to string$/);
  });

  it('with unknown fields is rejected or warned about as requested', async () => {
    const { patch, test } = await withDeployment();
    const value = { spec: { foo: 1 } };
    await patch('merge', value);
    assert.deepEqual(test.warnings, []);
    await patch('merge', value, { fieldValidation: 'Warn', problems: ['duplicate field "spec"'] });
    assert.deepEqual(test.warnings, ['duplicate field "spec"', 'unknown field "spec.foo"']);
    const status = await refusal(() => patch('strategic', value, { fieldValidation: 'Strict' }));
    assert.equal(
      status.message,
      ' "" is invalid: patch: Invalid value: "map[spec:map[foo:1]]": strict decoding error: unknown field "spec.foo"',
    );
  });

  it('can remove the managed fields, and cannot invent system fields', async () => {
    const { patch } = await withDeployment();
    const operations = [{ op: 'replace', path: '/metadata/managedFields', value: [] }];
    const { metadata } = await patch('json', operations);
    assert.equal(metadata.managedFields, undefined);
    const merged = await patch('merge', { metadata: { managedFields: [{}], generation: 9, creationTimestamp: null } });
    assert.equal(merged.metadata.generation, 1);
    assert.equal(merged.metadata.creationTimestamp, '1970-01-01T00:00:01Z');
  });

  it('of the status leaves the rest', async () => {
    const { patch } = await withDeployment();
    const value = { spec: { replicas: 9 }, status: { replicas: 1 } };
    const object = await patch('strategic', value, { context: { subresource: 'status' } });
    assert.deepEqual([desired(object), object.status], ['2', { replicas: 1 }]);
  });
});

describe('an apply', () => {
  const configuration = (spec: object, name = 'a') => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec,
  });

  it('creates an object with defaults, if the user may', async () => {
    const test = new TestRegistries();
    const registry = test.of(DEPLOYMENTS);
    const request = { mediaType: TYPES.apply, patch: configuration({ paused: true }) };
    const authorizeCreate = async () => {
      throw new Error('forbidden');
    };
    const refused = registry.patch(at('a'), request, test.context({ authorizeCreate }));
    await assert.rejects(refused, { message: 'forbidden' });
    const { object, created } = await registry.patch(at('a'), request, test.context({ fieldManager: 'm' }));
    assert.equal(created, true);
    assert.deepEqual([desired(object), object.metadata.generation], ['1 paused', 1]);
    const [entry] = object.metadata.managedFields as { operation: string; fieldsV1: object }[];
    assert.deepEqual([entry!.operation, entry!.fieldsV1], ['Apply', { 'f:spec': { 'f:paused': {} } }]);
  });

  it('changes an object, conflicts, and is forced', async () => {
    const { patch } = await withDeployment();
    const context = { fieldManager: 'm' };
    const change = configuration({ replicas: 5 });
    const status = await refusal(() => patch('apply', change, { context }));
    assert.equal(status.message, 'Apply failed with 1 conflict: conflict with "tester" using apps/v1: .spec.replicas');
    const forced = await patch('apply', change, { context, force: true });
    assert.equal(desired(forced), '5');
    const again = await patch('apply', change, { context });
    assert.deepEqual(again, forced);
    const removed = await patch('apply', configuration({}), { context });
    assert.equal(desired(removed), '1');
  });

  it('has canonical values', async () => {
    const { patch } = await withDeployment();
    const limits = { limits: { cpu: 0.5, memory: '1024Mi' } };
    const containers = [{ ...CONTAINER, resources: limits }];
    const { spec } = await patch('apply', configuration(template(containers)), { context: { fieldManager: 'm' } });
    const [container] = (spec as ReturnType<typeof template>).template.spec.containers as { resources: object }[];
    assert.deepEqual(container!.resources, { limits: { cpu: '500m', memory: '1Gi' } });
  });

  it('of another name or UID is rejected', async () => {
    const { patch, test, registry } = await withDeployment();
    assert.match((await refusal(() => patch('apply', configuration({}, 'b')))).message, /the name of the object \(b\)/);
    assert.match(
      (await refusal(() => patch('apply', 'x'))).message,
      /^error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string/,
    );
    const uid = { ...configuration({}, 'c'), metadata: { name: 'c', uid: 'u' } };
    const request = { mediaType: TYPES.apply, patch: uid };
    const status = await refusal(() => registry.patch(at('c'), request, test.context()));
    assert.equal(
      status.message,
      'Operation cannot be fulfilled on deployments.apps "c": uid mismatch: the provided object specified uid u, and no existing object was found',
    );
  });

  it('as a dry run stores nothing', async () => {
    const { test, patch } = await withDeployment();
    const { revision } = test.store;
    const context = { dryRun: true, fieldManager: 'm' };
    await patch('apply', configuration({ replicas: 5 }), { context, force: true });
    assert.equal(test.store.revision, revision);
  });
});

it('a patch of a removed object is not found, also if it is removed meanwhile', async () => {
  const test: TestRegistries = new TestRegistries({
    admission: {
      mutate: async ({ object, operation }) => {
        const key = { resource: 'configmaps', namespace: 'default', name: 'a' };
        if (operation === 'UPDATE') test.store.delete(key, test.store.get(key)!.revision);
        return object;
      },
      validate: async () => {},
    },
  });
  const configMaps = test.of('configmaps');
  await configMaps.create('default', configMap('a'), test.context());
  const request = { mediaType: TYPES.merge, patch: { data: { a: '1' } } };
  const status = await refusal(() => configMaps.patch(at('a'), request, test.context()));
  assert.equal(status.message, 'configmaps "a" not found');
});
