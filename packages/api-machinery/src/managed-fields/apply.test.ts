import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, type FailureStatus } from '../status/api-error.ts';
import { TrackedObject } from './test-fields.fixture.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns the status of the `ApiError` thrown by `work`. */
function refused(work: () => unknown): FailureStatus {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.status;
  }
  return assert.fail('expected an error');
}

const configMap = (): TrackedObject => new TrackedObject('ConfigMap');

describe('an apply', () => {
  it('creates an object', () => {
    const tracked = configMap();
    tracked.apply('one', { data: { a: '1' } });
    assert.deepEqual(tracked.managers, ['one Apply@0']);
    assert.deepEqual(tracked.fieldsOf('one'), { 'f:data': { 'f:a': {} } });
    assert.deepEqual(tracked.object!.data, { a: '1' });
  });

  it('of nothing but system fields has no entry', () => {
    const tracked = configMap();
    tracked.apply('one', {});
    assert.deepEqual(tracked.entries, []);
  });

  it('removes fields that its manager omits now, unless another manager owns them', () => {
    const tracked = configMap();
    tracked.apply('one', { data: { a: '1', b: '1' } });
    tracked.apply('two', { data: { b: '1' } });
    tracked.apply('one', { data: { c: '1' } });
    assert.deepEqual(tracked.object!.data, { b: '1', c: '1' });
  });

  it('has a time only if it changes the object', () => {
    const tracked = configMap();
    tracked.now = 1;
    tracked.apply('one', { data: { a: '1' } });
    tracked.now = 5;
    tracked.apply('one', { data: { a: '1' } });
    assert.deepEqual(tracked.managers, ['one Apply@1']);
    tracked.apply('two', { data: { a: '1' } });
    assert.deepEqual(tracked.managers, ['two Apply', 'one Apply@1']);
    tracked.apply('one', { data: { a: '1', b: '1' } });
    assert.deepEqual(tracked.managers, ['two Apply', 'one Apply@5']);
  });

  it('conflicts with other managers in upstream’s words, unless it is forced', () => {
    const tracked = new TrackedObject('Deployment');
    tracked.write('x', { spec: { replicas: 1, paused: true } });
    const one = refused(() => tracked.apply('y', { spec: { replicas: 2 } }));
    assert.equal(one.message, 'Apply failed with 1 conflict: conflict with "x" using apps/v1: .spec.replicas');
    assert.deepEqual([one.code, one.reason], [409, 'Conflict']);
    assert.deepEqual(one.details, {
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "x" using apps/v1', field: '.spec.replicas' }],
    });
    tracked.apply('y', { spec: { replicas: 2 } }, { force: true });
    const two = refused(() => tracked.apply('z', { spec: { paused: false, replicas: 3 } }));
    assert.equal(
      two.message,
      'Apply failed with 2 conflicts: conflicts with "x" using apps/v1:\n- .spec.paused\nconflicts with "y":\n- .spec.replicas',
    );
    assert.deepEqual(tracked.fieldsOf('y'), { 'f:spec': { 'f:replicas': {} } });
  });

  it('names the subresource in conflicts', () => {
    const tracked = new TrackedObject('Deployment');
    tracked.write('x', { spec: { replicas: 1 } });
    tracked.write('x', { spec: { replicas: 1 }, status: { replicas: 1 } }, 'status');
    const { message } = refused(() => tracked.apply('y', { status: { replicas: 2 } }, { subresource: 'status' }));
    assert.match(message, /conflict with "x" with subresource "status" using apps\/v1: .status.replicas$/);
  });

  it('does not own fields that its resource cannot change', () => {
    const tracked = new TrackedObject('Deployment');
    tracked.apply('a', { spec: { replicas: 1 }, status: { replicas: 1 } });
    assert.deepEqual(tracked.fieldsOf('a'), { 'f:spec': { 'f:replicas': {} } });
  });

  it('of another kind or version, or with managed fields, is rejected', () => {
    const tracked = configMap();
    const checks: [object, string][] = [
      [{ kind: 'Secret' }, 'invalid object type: /v1, Kind=Secret'],
      [{ apiVersion: 'v2' }, 'invalid object type: /v2, Kind=ConfigMap'],
      [{ apiVersion: undefined, kind: undefined }, 'invalid object type: /, Kind='],
      [{ metadata: { managedFields: [] } }, 'metadata.managedFields must be nil'],
    ];
    for (const [given, message] of checks) {
      const status = refused(() => tracked.apply('a', given as Record<string, unknown>));
      assert.deepEqual([status.code, status.message], [400, message]);
    }
  });

  it('with elements that cannot be identified is rejected as by upstream', () => {
    const tracked = new TrackedObject('Deployment');
    const spec = { template: { spec: { containers: [{ image: 'a' }] } } };
    const status = refused(() => tracked.apply('a', { spec }));
    assert.equal(status.code, 500);
    assert.match(status.message, /^failed to create typed patch object \(default\/a; apps\/v1, Kind=Deployment\): /);
  });

  it('with undeclared fields or wrong types is rejected as by upstream', () => {
    const tracked = new TrackedObject('Deployment');
    const check = (spec: object, expected: string) => {
      const status = refused(() => tracked.apply('a', { spec }));
      const start = 'failed to create typed patch object (default/a; apps/v1, Kind=Deployment): ';
      assert.deepEqual([status.code, status.reason, status.message], [500, undefined, start + expected]);
    };
    check({ foo: 1 }, '.spec.foo: field not declared in schema');
    check(
      { template: { spec: { containers: [{ name: 'c', ports: [{ containerPort: 1, x: 2 }] }], y: 3 } } },
      'errors:\n  .spec.template.spec.containers[name="c"].ports[containerPort=1].x: field not declared in schema\n  .spec.template.spec.y: field not declared in schema',
    );
    check(
      { replicas: 'x' },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
  });

  it('fails if the stored entries are invalid', () => {
    const tracked = configMap();
    tracked.write('one', { data: { a: '1' } });
    const { metadata } = tracked.object!;
    tracked.object = { ...tracked.object!, metadata: { ...metadata, managedFields: [{ manager: 'x' }] } };
    const status = refused(() => tracked.apply('a', { data: { a: '1' } }));
    assert.deepEqual(
      [status.code, status.message],
      [500, 'failed to decode managed fields: operation must be `Apply` or `Update`'],
    );
  });
});

describe('kubectl’s first server-side apply', () => {
  /** Returns an object that client-side `kubectl apply` created with the field `data.a`. */
  function clientSide(): TrackedObject {
    const tracked = configMap();
    const configuration = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } };
    const annotations = { [LAST_APPLIED]: JSON.stringify(configuration) };
    tracked.write('kubectl-client-side-apply', { metadata: { annotations }, data: { a: '1' } });
    return tracked;
  }

  it('may change the fields of the last client-side apply, and updates its annotation', () => {
    const tracked = clientSide();
    tracked.apply('kubectl', { data: { a: '2' } });
    assert.deepEqual(tracked.object!.data, { a: '2' });
    const text = tracked.object!.metadata.annotations![LAST_APPLIED]!;
    assert.equal(
      text,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},"data":{"a":"2"}}\n',
    );
  });

  it('conflicts in fields that changed since', () => {
    const tracked = clientSide();
    tracked.write('other', { metadata: tracked.object!.metadata, data: { a: '3', b: '1' } });
    const { message } = refused(() => tracked.apply('kubectl', { data: { a: '2' } }));
    assert.match(message, /^Apply failed with 1 conflict: conflict with "other" using v1: .data.a$/);
  });

  it('is not special for other managers, other versions or unreadable annotations', () => {
    assert.match(refused(() => clientSide().apply('mine', { data: { a: '2' } })).message, /1 conflict/);
    for (const text of ['{', '7', '{"apiVersion":"v2","data":{"a":"1"}}', '']) {
      const tracked = clientSide();
      const annotations = { [LAST_APPLIED]: text };
      tracked.object = { ...tracked.object!, metadata: { ...tracked.object!.metadata, annotations } };
      assert.match(refused(() => tracked.apply('kubectl', { data: { a: '2' } })).message, /1 conflict/, text);
    }
  });

  it('removes an annotation that would become too large', () => {
    const tracked = clientSide();
    tracked.apply('kubectl', { data: { a: 'x'.repeat(300_000) } });
    assert.equal(tracked.object!.metadata.annotations, undefined);
  });
});
