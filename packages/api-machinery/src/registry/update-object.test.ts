import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import type { AdmissionAttributes } from '../admission-contract.ts';
import type { RequestContext } from '../request-context.ts';
import { at, configMap, decoded, deployment, desired, refusal, TestRegistries } from './test-registries.fixture.ts';

const DEPLOYMENTS = 'deployments.apps/v1';

const lease = (metadata: object = {}): ApiObject =>
  decoded('coordination.k8s.io/v1', 'Lease', { metadata: { name: 'a', ...metadata }, spec: {} });

/** Creates a Deployment `a`, and returns a function that updates it. */
async function withDeployment(spec: object = {}) {
  const test = new TestRegistries();
  const registry = test.of(DEPLOYMENTS);
  const made = await registry.create('default', deployment('a', spec), test.context());
  const update = async (object: ApiObject, context: Partial<RequestContext> = {}) =>
    (await registry.update(at('a'), object, test.context(context))).object;
  return { test, registry, made, update };
}

describe('an update', () => {
  it('replaces everything but the server’s fields and the status', async () => {
    const { made, update } = await withDeployment({ paused: true, replicas: 3 });
    const sent = { labels: { a: 'b' }, generation: 9, creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/' };
    const updated = await update({ ...deployment('a', { paused: true }, sent), status: { replicas: 5 } });
    assert.deepEqual([desired(updated), updated.status], ['1 paused', {}]);
    const { uid, creationTimestamp } = made.metadata;
    const { managedFields: _, resourceVersion, ...metadata } = updated.metadata;
    const labels = { a: 'b' };
    assert.deepEqual(metadata, { name: 'a', namespace: 'default', uid, creationTimestamp, generation: 2, labels });
    assert.notEqual(resourceVersion, made.metadata.resourceVersion);
  });

  it('increments the generation only for the desired state', async () => {
    const { update } = await withDeployment();
    const generations = [
      await update(deployment('a', {}, { labels: { a: 'b' } })),
      await update({ ...deployment('a'), status: { replicas: 1 } }, { subresource: 'status' }),
      await update(deployment('a', { replicas: 2 })),
    ].map(({ metadata }) => metadata.generation);
    assert.deepEqual(generations, [1, 1, 2]);
  });

  it('increments the generation for annotations of kinds that count them', async () => {
    const { update } = await withDeployment();
    const annotated = deployment('a', {}, { annotations: { a: 'b' } });
    const generations = [
      await update(deployment('a', {}, { annotations: {} })),
      await update(annotated, { subresource: 'status' }),
      await update(deployment('a', {}, { annotations: { a: 'c' } })),
    ].map(({ metadata }) => metadata.generation);
    assert.deepEqual(generations, [1, 1, 2]);
  });

  it('that changes nothing is not made', async () => {
    const { test, made, update } = await withDeployment();
    const { revision } = test.store;
    test.nowMs += 60_000;
    assert.deepEqual(await update(made), made);
    assert.deepEqual(await update(deployment('a')), made);
    assert.deepEqual(await update(deployment('a', { replicas: 1 }), { fieldManager: 'other' }), made);
    assert.equal(test.store.revision, revision);
  });

  it('that would only change times of managed fields is not made', async () => {
    const { test, update } = await withDeployment();
    const changed = await update({ ...deployment('a'), status: { replicas: 3 } });
    const { revision } = test.store;
    test.nowMs += 60_000;
    // the client changes a status field, but the kind's strategy restores the stored value
    assert.deepEqual(await update({ ...deployment('a'), status: { replicas: 4 } }), changed);
    assert.equal(test.store.revision, revision);
  });

  it('with an old version, another UID or another name is rejected', async () => {
    const { test, registry, made, update } = await withDeployment();
    await update(deployment('a', { replicas: 2 }));
    const check = async (metadata: object, code: number, message: string) => {
      const status = await refusal(() => update(deployment('a', {}, metadata)));
      assert.deepEqual([status.code, status.message], [code, message]);
    };
    const operation = 'Operation cannot be fulfilled on deployments.apps "a": ';
    await check(
      { resourceVersion: made.metadata.resourceVersion },
      409,
      `${operation}the object has been modified; please apply your changes to the latest version and try again`,
    );
    const { uid } = made.metadata;
    await check(
      { uid: 'x' },
      409,
      `${operation}Precondition failed: UID in precondition: x, UID in object meta: ${uid}`,
    );
    await check({ name: '' }, 400, 'the name of the object (a based on URL) was undeterminable: name must be provided');
    await check({ resourceVersion: 'x' }, 500, 'strconv.ParseUint: parsing "x": invalid syntax');
    await check({ name: 'b' }, 400, 'the name of the object (b) does not match the name on the URL (a)');
    await check(
      { namespace: 'b' },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    );
    const absent = await refusal(() => registry.update(at('b'), deployment('b'), test.context()));
    assert.deepEqual([absent.code, absent.message], [404, 'deployments.apps "b" not found']);
  });

  it('is validated: the object, the change, and the metadata', async () => {
    const { update } = await withDeployment({ paused: true });
    const metadata = { labels: { '': '' }, deletionGracePeriodSeconds: 1 };
    const status = await refusal(() => update(deployment('a', { replicas: -1 }, metadata)));
    assert.deepEqual(
      status.details?.causes?.map(({ field }) => field),
      ['metadata.labels', 'metadata.labels', 'metadata.deletionGracePeriodSeconds', 'spec.replicas', 'spec.paused'],
    );
  });

  it('has the warnings of its kind, except through subresources', async () => {
    const { test, update } = await withDeployment({ paused: true });
    await update({ ...deployment('a', { paused: true }), status: { replicas: 1 } }, { subresource: 'status' });
    assert.deepEqual(test.warnings.splice(0), ['paused']);
    await update(deployment('a', { paused: true, replicas: 3 }));
    assert.deepEqual(test.warnings, ['paused again']);
  });

  it('as a dry run stores nothing', async () => {
    const { test, made, update } = await withDeployment();
    const { revision } = test.store;
    const tried = await update(deployment('a', { replicas: 7 }), { dryRun: true });
    assert.deepEqual([desired(tried), tried.metadata.resourceVersion], ['7', made.metadata.resourceVersion]);
    assert.equal(test.store.revision, revision);
  });

  it('without a manager changes no managed fields', async () => {
    const { registry, test, made } = await withDeployment();
    const change = (object: ApiObject) => ({ ...object, spec: { ...(object.spec as object), replicas: 7 } });
    const context = test.context({ fieldManager: undefined, subresource: 'scale' });
    const { object } = await registry.change(at('a'), change, context);
    assert.equal(desired(object), '7');
    assert.deepEqual(object.metadata.managedFields, made.metadata.managedFields);
  });

  it('of an unknown subresource is not found', async () => {
    const { update } = await withDeployment();
    assert.equal((await refusal(() => update(deployment('a'), { subresource: 'nothing' }))).code, 404);
  });
});

describe('the status', () => {
  it('is updated separately, with its own manager', async () => {
    const { update } = await withDeployment();
    const given = { ...deployment('a', { replicas: 7 }, { labels: { a: 'b' } }), status: { replicas: 7 } };
    const updated = await update(given, { subresource: 'status', fieldManager: 'controller' });
    assert.deepEqual([desired(updated), updated.status, updated.metadata.labels], ['1', { replicas: 7 }, undefined]);
    const entries = updated.metadata.managedFields as { manager: string; subresource?: string; fieldsV1: object }[];
    assert.deepEqual(
      entries.map(({ manager, subresource, fieldsV1 }) => [manager, subresource, fieldsV1]),
      [
        ['controller', 'status', { 'f:status': { 'f:replicas': {} } }],
        ['tester', undefined, { 'f:spec': { 'f:replicas': {} } }],
      ],
    );
  });

  it('of a kind without own rules changes nothing else', async () => {
    const test = new TestRegistries();
    const nodes = test.of('nodes');
    await nodes.create(
      '',
      decoded('v1', 'Node', { metadata: { name: 'n' }, spec: { unschedulable: true } }),
      test.context(),
    );
    const given = decoded('v1', 'Node', { metadata: { name: 'n' }, spec: { podCIDR: 'x' }, status: { phase: 'x' } });
    const { object } = await nodes.update(at('n', ''), given, test.context({ subresource: 'status' }));
    const { phase } = object.status as { phase: string };
    assert.deepEqual([object.spec, phase], [{ unschedulable: true }, 'x']);
    const entries = object.metadata.managedFields as { subresource?: string; fieldsV1: object }[];
    const own = entries.find(({ subresource }) => subresource === 'status');
    assert.deepEqual(own?.fieldsV1, { 'f:status': { 'f:phase': {} } });
  });
});

describe('an update of a missing object', () => {
  it('creates it if the kind allows this, and the user may', async () => {
    const test = new TestRegistries();
    const leases = test.of('leases.coordination.k8s.io/v1');
    const authorizeCreate = async () => {
      throw new Error('forbidden');
    };
    const context = test.context({ authorizeCreate });
    await assert.rejects(leases.update(at('a'), lease(), context), { message: 'forbidden' });
    const made = await leases.update(at('a'), lease({ resourceVersion: '5' }), test.context());
    assert.equal(made.created, true);
    assert.match(made.object.metadata.uid!, /^[0-9a-f-]{36}$/);
    const status = await refusal(() => leases.update(at('b'), lease({ name: 'b', uid: 'u' }), test.context()));
    assert.match(status.message, /Precondition failed: UID in precondition: u, UID in object meta: $/);
  });

  it('becomes an update if another request creates it meanwhile', async () => {
    let create = async () => {};
    const test = new TestRegistries({
      admission: { mutate: async ({ object }) => object, validate: async () => create() },
    });
    const leases = test.of('leases.coordination.k8s.io/v1');
    create = async () => {
      create = async () => {};
      await leases.create('default', lease(), test.context());
    };
    const status = await refusal(() => leases.update(at('a'), lease(), test.context()));
    // Leases require a resource version in updates
    assert.equal(
      status.message,
      'leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
  });
});

describe('a write that the store rejects', () => {
  it('is answered by its cause', async () => {
    const check = async (code: ErrorCode, status: number, reason: string) => {
      const { test, registry } = await withDeployment();
      test.store.transaction = () => {
        throw new PodwrightError(code, 'the disk is full');
      };
      const refused = await refusal(() => registry.update(at('a'), deployment('a', { replicas: 7 }), test.context()));
      assert.deepEqual([refused.code, refused.reason], [status, reason]);
      assert.match(refused.message, /the disk is full$/);
    };
    await check('resource_exhausted', 500, 'InternalError');
    await check('unavailable', 503, 'ServiceUnavailable');
  });
});

describe('writes that overtake an update', () => {
  /**
   * Returns registries with an admission plugin that changes the object in the store during admission, `count` times, so that the update
   * must be retried.
   */
  function overtaken(count: number) {
    let left = count;
    const attempts: AdmissionAttributes[] = [];
    const test: TestRegistries = new TestRegistries({
      admission: {
        mutate: async ({ object }) => object,
        validate: async (attributes) => {
          attempts.push(attributes);
          if (attributes.operation !== 'UPDATE' || left-- <= 0) return;
          const key = { resource: 'configmaps', namespace: 'default', name: 'a' };
          const stored = test.store.get(key)!;
          const { metadata, ...object } = stored.decode();
          const labels = { left: String(left) };
          test.store.update(key, { ...object, metadata: { ...metadata, labels } }, stored.revision);
        },
      },
    });
    return { test, attempts };
  }

  it('make it compute its change again', async () => {
    const { test, attempts } = overtaken(3);
    const configMaps = test.of('configmaps');
    await configMaps.create('default', configMap('a'), test.context());
    const { object } = await configMaps.change(
      at('a'),
      (old) => ({ ...old, data: { seen: old.metadata.labels?.left ?? '' } }),
      test.context(),
    );
    assert.deepEqual([object.data, object.metadata.labels], [{ seen: '0' }, { left: '0' }]);
    assert.equal(attempts.length, 5);
  });

  it('make it fail if it has a version', async () => {
    const { test } = overtaken(1);
    const configMaps = test.of('configmaps');
    const made = await configMaps.create('default', configMap('a'), test.context());
    const update = () => configMaps.update(at('a'), { ...made, data: { a: '1' } }, test.context());
    assert.equal((await refusal(update)).reason, 'Conflict');
  });

  it('make it fail after many attempts', async () => {
    const { test, attempts } = overtaken(1_000);
    const configMaps = test.of('configmaps');
    await configMaps.create('default', configMap('a'), test.context());
    const update = () => configMaps.update(at('a'), configMap('a', { data: { a: '1' } }), test.context());
    assert.equal((await refusal(update)).reason, 'Conflict');
    assert.equal(attempts.length, 101);
  });

  it('do not delay the end of an aborted request', async () => {
    const { test, attempts } = overtaken(1_000);
    const configMaps = test.of('configmaps');
    await configMaps.create('default', configMap('a'), test.context());
    const signal = AbortSignal.abort(new Error('over'));
    const update = configMaps.update(at('a'), configMap('a', { data: { a: '1' } }), test.context({ signal }));
    await assert.rejects(update, { message: 'over' });
    assert.equal(attempts.length, 2);
  });
});
