import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import type { AdmissionAttributes } from '../admission-contract.ts';
import { at, configMap, deployment, desired, pod, refusal, TestRegistries } from './test-registries.fixture.ts';

const DEPLOYMENTS = 'deployments.apps/v1';

describe('a created object', () => {
  it('has defaults and the server’s metadata', async () => {
    const test = new TestRegistries();
    const time = '2001-01-01T00:00:00Z';
    const sent = { uid: 'mine', generation: 7, deletionTimestamp: time, selfLink: '/', creationTimestamp: time };
    const given = { ...deployment('a', { paused: true }, sent), status: { replicas: 3 } };
    const { metadata, ...object } = await test.of(DEPLOYMENTS).create('default', given, test.context());
    assert.deepEqual([object.kind, desired({ metadata, ...object }), object.status], ['Deployment', '1 paused', {}]);
    const { uid, managedFields: _, resourceVersion, ...others } = metadata;
    assert.match(uid!, /^[0-9a-f-]{36}$/);
    assert.equal(resourceVersion, String(test.store.revision));
    const creationTimestamp = '1970-01-01T00:00:01Z';
    assert.deepEqual(others, { name: 'a', namespace: 'default', generation: 1, creationTimestamp });
    assert.deepEqual(test.warnings, ['paused']);
    assert.deepEqual(test.of(DEPLOYMENTS).get(at('a')).decode(), { metadata, ...object });
  });

  it('is owned by the field manager, with its defaults', async () => {
    const test = new TestRegistries();
    const given = { ...deployment('a', { paused: true }), status: { replicas: 3 } };
    const { metadata } = await test.of(DEPLOYMENTS).create('default', given, test.context({ fieldManager: 'm' }));
    const [entry] = metadata.managedFields as [{ manager: string; fieldsV1: object }];
    assert.equal(entry.manager, 'm');
    assert.deepEqual(entry.fieldsV1, { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } });
  });

  it('has no generation if its kind has none', async () => {
    const test = new TestRegistries();
    const made = await test.of('configmaps').create('default', configMap('a', { data: { a: '1' } }), test.context());
    assert.equal(made.metadata.generation, undefined);
    const given = configMap('b', { metadata: { name: 'b', generation: 7 } });
    const sent = await test.of('configmaps').create('default', given, test.context());
    assert.equal(sent.metadata.generation, 7, 'upstream keeps the one that a client sends');
  });

  it('of a cluster-scoped kind has no namespace', async () => {
    const test = new TestRegistries();
    const given: ApiObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', namespace: 'x' } };
    const { metadata } = await test.of('nodes').create('', given, test.context());
    assert.equal(metadata.namespace, undefined);
    assert.equal(test.of('nodes').get(at('n', '')).key, '/n');
  });

  it('loses repeated owner references, with a warning', async () => {
    const test = new TestRegistries();
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
    const given = configMap('a', { metadata: { name: 'a', ownerReferences: [owner, { ...owner }] } });
    const made = await test.of('configmaps').create('default', given, test.context());
    assert.deepEqual(made.metadata.ownerReferences, [owner]);
    assert.match(test.warnings.join(), /duplicate UID\(s\) observed: u$/);
  });
});

describe('a create', () => {
  it('is rejected in upstream’s words', async () => {
    const test = new TestRegistries();
    const configMaps = test.of('configmaps');
    await configMaps.create('default', configMap('a'), test.context());
    const check = async (given: ApiObject, code: number, message: string | RegExp) => {
      const status = await refusal(() => configMaps.create('default', given, test.context()));
      assert.equal(status.code, code, status.message);
      if (typeof message === 'string') assert.equal(status.message, message);
      else assert.match(status.message, message);
    };
    await check(configMap('a'), 409, 'configmaps "a" already exists');
    await check(
      configMap(''),
      422,
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    );
    await check(configMap('A'), 422, /^ConfigMap "A" is invalid: metadata.name: Invalid value: "A": a lowercase/);
    await check(
      configMap('b', { metadata: { name: 'b', namespace: 'other' } }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    );
    await check(
      configMap('b', { metadata: { name: 'b', resourceVersion: '7' } }),
      500,
      'resourceVersion should not be set on objects to be created',
    );
    const both = await refusal(() =>
      test.of(DEPLOYMENTS).create('default', deployment('A', { replicas: -1 }), test.context()),
    );
    assert.deepEqual(
      both.details?.causes?.map(({ field }) => field),
      ['metadata.name', 'spec.replicas'],
    );
  });

  it('of a name whose object is being deleted says so', async () => {
    const test = new TestRegistries();
    const finalizers = ['x.example/a'];
    const configMaps = test.of('configmaps');
    await configMaps.create('default', configMap('a', { metadata: { name: 'a', finalizers } }), test.context());
    await configMaps.delete(at('a'), {}, test.context());
    const status = await refusal(() => configMaps.create('default', configMap('a'), test.context()));
    assert.equal(status.message, 'object is being deleted: configmaps "a" already exists');
  });

  it('as a dry run stores nothing', async () => {
    const test = new TestRegistries();
    const configMaps = test.of('configmaps');
    const { revision } = test.store;
    const made = await configMaps.create('default', configMap('a'), test.context({ dryRun: true }));
    assert.equal(made.metadata.resourceVersion, undefined);
    assert.equal(test.store.revision, revision);
    assert.equal((await refusal(() => configMaps.get(at('a')))).message, 'configmaps "a" not found');
    await configMaps.create('default', configMap('a'), test.context());
    const again = () => configMaps.create('default', configMap('a'), test.context({ dryRun: true }));
    assert.equal((await refusal(again)).reason, 'AlreadyExists');
  });
});

describe('a generated name', () => {
  const unnamed = configMap('', { metadata: { generateName: 'a-' } });

  /**
   * Returns registries whose store already contains the first `taken` names to be generated, and a function `tries` that returns how many
   * names have been tried.
   */
  function withTakenNames(taken: number): { test: TestRegistries; tries: () => number } {
    const test = new TestRegistries();
    const { get } = test.store;
    let tries = 0;
    test.store.get = (key) => {
      tries += 1;
      if (tries > taken) return get.call(test.store, key);
      return { decode: () => configMap('a') } as never;
    };
    return { test, tries: () => tries };
  }

  it('is free, and is tried eight times', async () => {
    const { test } = withTakenNames(7);
    const made = await test.of('configmaps').create('default', unnamed, test.context());
    assert.match(made.metadata.name!, /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const full = withTakenNames(100);
    const status = await refusal(() => full.test.of('configmaps').create('default', unnamed, full.test.context()));
    assert.equal(full.tries(), 8);
    assert.match(
      status.message,
      /^configmaps "a-.{5}" already exists, the server was not able to generate a unique name for the object$/,
    );
    assert.equal(status.details?.retryAfterSeconds, 1);
  });

  it('is not generated for an object with a name', async () => {
    const { test, tries } = withTakenNames(100);
    const named = configMap('', { metadata: { name: 'b', generateName: 'a-' } });
    const status = await refusal(() => test.of('configmaps').create('default', named, test.context()));
    assert.match(status.message, /^configmaps "b" already exists, the server was not able/);
    assert.equal(tries(), 1);
  });
});

describe('admission of a create', () => {
  it('changes the object before the rules of its kind, and validates the complete object', async () => {
    const seen: AdmissionAttributes[] = [];
    const test = new TestRegistries({
      admission: {
        mutate: async (attributes) => {
          seen.push(attributes);
          const { object } = attributes;
          return { ...object!, spec: { replicas: -2 } };
        },
        validate: async (attributes) => {
          seen.push(attributes);
        },
      },
    });
    const given = deployment('', {}, { generateName: 'a-' });
    const status = await refusal(() => test.of(DEPLOYMENTS).create('default', given, test.context()));
    assert.match(status.message, /spec.replicas: Invalid value: -2/);
    assert.deepEqual(
      seen.map(({ operation, name, namespace, subresource }) => [operation, name, namespace, subresource]),
      [['CREATE', '', 'default', '']],
    );
    await test.of('namespaces').create('', { ...configMap('n'), kind: 'Namespace' }, test.context());
    const { name, namespace, object } = seen.at(-1)!;
    assert.deepEqual([name, namespace], ['n', 'n']);
    assert.notEqual(object!.metadata.uid, undefined);
  });

  it('rejects the write', async () => {
    const mutate = async ({ object }: AdmissionAttributes) => object;
    const validate = async () => {
      throw new Error('no');
    };
    const test = new TestRegistries({ admission: { mutate, validate } });
    await assert.rejects(test.of('pods').create('default', pod('a'), test.context()), { message: 'no' });
    assert.equal(test.store.list('pods').objects.length, 0);
  });
});
