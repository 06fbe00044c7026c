import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TrackedObject } from './test-fields.fixture.ts';

const DATA = { '.': {}, 'f:a': {} };

/** Returns a ConfigMap that the manager `one` created with the field `data.a`. */
function created(): TrackedObject {
  const tracked = new TrackedObject('ConfigMap');
  tracked.write('one', { data: { a: '1' } });
  return tracked;
}

describe('a create', () => {
  it('is owned by its manager, without system fields', () => {
    const tracked = new TrackedObject('ConfigMap');
    const metadata = { uid: 'x', labels: { app: 'b' }, creationTimestamp: '2026-01-01T00:00:00Z' };
    tracked.write('kubectl-create', { metadata, data: { a: '1' } });
    assert.deepEqual(tracked.entries, [
      {
        manager: 'kubectl-create',
        operation: 'Update',
        apiVersion: 'v1',
        time: '1970-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': DATA, 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } } },
      },
    ]);
  });

  it('has list elements by their keys', () => {
    const tracked = new TrackedObject('Deployment');
    const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }];
    tracked.write('m', { spec: { template: { spec: { containers } } } });
    const container = {
      '.': {},
      'f:image': {},
      'f:name': {},
      'f:ports': { '.': {}, 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
      'f:resources': {},
    };
    assert.deepEqual(tracked.fieldsOf('m'), {
      'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': container } } } },
    });
  });

  it('without a manager belongs to `unknown`, and one without own fields to none', () => {
    const tracked = new TrackedObject('ConfigMap');
    tracked.write('', { data: { a: '1' } });
    assert.deepEqual(tracked.managers, ['unknown Update@0']);
    const empty = new TrackedObject('ConfigMap');
    empty.write('m', {});
    assert.equal(empty.object!.metadata.managedFields, undefined);
  });

  it('may have equal list elements, but is not tracked if an element has no key', () => {
    const equal = new TrackedObject('ConfigMap');
    equal.write('m', { metadata: { finalizers: ['a', 'a'] } });
    assert.deepEqual(equal.fieldsOf('m'), { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"a"': {} } } });
    const unkeyed = new TrackedObject('Deployment');
    unkeyed.write('m', { spec: { replicas: 1, template: { spec: { topologySpreadConstraints: [{}] } } } });
    assert.equal(unkeyed.entries.length, 1);
    unkeyed.object = { ...unkeyed.object!, spec: { template: { spec: { containers: [{}] } } } };
    unkeyed.write('m', { spec: { replicas: 2 } });
    assert.deepEqual(unkeyed.entries, []);
  });
});

describe('an update', () => {
  it('takes the fields that it changes from their owner', () => {
    const tracked = created();
    tracked.now = 5;
    tracked.write('two', { data: { a: '2', b: '1' } });
    assert.deepEqual(tracked.managers, ['one Update@0', 'two Update@5']);
    assert.deepEqual(tracked.fieldsOf('one'), { 'f:data': {} });
    assert.deepEqual(tracked.fieldsOf('two'), { 'f:data': { 'f:a': {}, 'f:b': {} } });
  });

  it('without a change alters neither owners nor times', () => {
    const tracked = created();
    tracked.now = 5;
    tracked.write('two', { data: { a: '1' } });
    tracked.write('one', { data: { a: '1' } });
    assert.deepEqual(tracked.managers, ['one Update@0']);
  });

  it('of the same manager extends its entry, and removed fields have no owner', () => {
    const tracked = created();
    tracked.now = 5;
    tracked.write('one', { data: { b: '1' } });
    assert.deepEqual(tracked.managers, ['one Update@5']);
    assert.deepEqual(tracked.fieldsOf('one'), { 'f:data': { '.': {}, 'f:b': {} } });
    tracked.write('two', {});
    assert.deepEqual(tracked.managers, []);
  });

  it('through a subresource is another entry, and does not own fields that the subresource cannot change', () => {
    const tracked = new TrackedObject('Deployment');
    tracked.write('m', { spec: { replicas: 1 }, status: { replicas: 7 } });
    tracked.write('m', { spec: { replicas: 2 }, status: { replicas: 1 } }, 'status');
    assert.deepEqual(tracked.managers, ['m Update@0', 'm Update/status@0']);
    assert.deepEqual(
      tracked.entries.map(({ fieldsV1 }) => Object.keys(fieldsV1!)),
      [['f:spec'], ['f:status']],
    );
  });

  it('of the client’s entries is accepted, but not through a subresource', () => {
    const tracked = created();
    const [entry] = tracked.entries;
    const metadata = { managedFields: [{ ...entry, manager: 'renamed' }] };
    tracked.write('two', { metadata, data: { a: '1' } });
    assert.deepEqual(tracked.managers, ['renamed Update@0']);
    tracked.write('two', { metadata: { managedFields: [{ ...entry, manager: 'again' }] }, data: { a: '1' } }, 'status');
    assert.deepEqual(tracked.managers, ['renamed Update@0']);
  });

  it('with invalid entries retains those of the stored object', () => {
    const invalid = [
      { operation: 'Replace' },
      { apiVersion: '' },
      { fieldsType: '' },
      { fieldsType: 'FieldsV2' },
      { fieldsV1: { 'x:y': {} } },
      { fieldsV1: { 'f:data': 'x' } },
    ];
    for (const change of invalid) {
      const tracked = created();
      const managedFields = [{ ...tracked.entries[0], manager: 'two', ...change }];
      tracked.write('two', { metadata: { managedFields }, data: { a: '1' } });
      assert.deepEqual(tracked.managers, ['one Update@0'], JSON.stringify(change));
    }
  });

  it('with one empty entry removes all entries, and the object is not tracked until its next apply', () => {
    const tracked = created();
    tracked.write('two', { metadata: { managedFields: [{}] }, data: { a: '1' } });
    assert.equal(tracked.object!.metadata.managedFields, undefined);
    tracked.now = 3;
    tracked.write('two', { data: { a: '2' } });
    assert.deepEqual(tracked.managers, []);
    tracked.apply('three', { data: { a: '2' } });
    assert.deepEqual(tracked.managers, ['three Apply', 'before-first-apply Update@3']);
  });
});

describe('more than ten updaters', () => {
  it('are merged from the oldest on', () => {
    const tracked = new TrackedObject('ConfigMap');
    const data: Record<string, string> = {};
    for (let index = 1; index <= 12; index++) {
      tracked.now = index;
      data[`k${index}`] = 'x';
      tracked.write(`m${index}`, { data });
    }
    assert.deepEqual(tracked.managers.slice(0, 2), ['ancient-changes Update@3', 'm4 Update@4']);
    assert.equal(tracked.managers.length, 10);
    assert.deepEqual(tracked.fieldsOf('ancient-changes'), {
      'f:data': { '.': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} },
    });
  });
});
