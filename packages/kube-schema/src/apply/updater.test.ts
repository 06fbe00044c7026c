import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from '../schema/schema.ts';
import { formatFieldsV1, parseFieldsV1 } from './fields-v1.ts';
import { FieldUpdater } from './updater.ts';
import { Written } from './written-object.fixture.ts';

const schema = await Schema.load();
const CLAIM = 'core.v1.PersistentVolumeClaimSpec';
const SPEC = 'core.v1.PodSpec';

describe('scalars', () => {
  it('belong to their last applier, and to the updater of others', () => {
    const written = new Written(CLAIM);
    written.apply('default', { volumeName: 'a', volumeMode: 'b' });
    written.update('controller', { volumeName: 'a', volumeMode: 'b', storageClassName: 'c' });
    written.apply('default', { volumeName: 'd', volumeMode: 'b' });
    const managers = { default: { 'f:volumeMode': {}, 'f:volumeName': {} }, controller: { 'f:storageClassName': {} } };
    written.check({ volumeName: 'd', volumeMode: 'b', storageClassName: 'c' }, managers);
  });

  it('conflict if another manager changed them, unless the apply is forced', () => {
    const written = new Written(CLAIM);
    written.apply('default', { volumeName: 'a' });
    written.update('controller', { volumeName: 'c', volumeMode: 'x' });
    assert.deepEqual(written.apply('default', { volumeName: 'b' }), ['controller .volumeName']);
    written.check({ volumeName: 'c', volumeMode: 'x' }, { controller: { 'f:volumeMode': {}, 'f:volumeName': {} } });
    assert.deepEqual(written.apply('default', { volumeName: 'b' }, true), []);
    written.check(
      { volumeName: 'b', volumeMode: 'x' },
      { controller: { 'f:volumeMode': {} }, default: { 'f:volumeName': {} } },
    );
  });

  it('are removed if their applier leaves them out and no other manager owns them', () => {
    const written = new Written(CLAIM);
    written.apply('default', { volumeName: 'a', volumeMode: 'b' });
    written.apply('other', { volumeMode: 'b' });
    written.apply('default', {});
    written.check({ volumeMode: 'b' }, { other: { 'f:volumeMode': {} } });
    written.apply('other', {});
    written.check({}, {});
  });

  it('of an updater remain if an applier leaves them out', () => {
    const written = new Written(CLAIM);
    written.update('controller', { volumeName: 'a' });
    written.apply('default', {});
    written.check({ volumeName: 'a' }, { controller: { 'f:volumeName': {} } });
    written.update('controller', {});
    written.check({}, {});
  });

  it('may have several owners with the same value', () => {
    const written = new Written(CLAIM);
    written.apply('one', { volumeName: 'a' });
    assert.deepEqual(written.apply('two', { volumeName: 'a' }), []);
    written.check({ volumeName: 'a' }, { one: { 'f:volumeName': {} }, two: { 'f:volumeName': {} } });
    assert.deepEqual(written.apply('two', { volumeName: 'b' }), ['one .volumeName']);
    assert.deepEqual(written.apply('another', { volumeName: 'b' }), ['one .volumeName', 'two .volumeName']);
    const sorted = new Written(CLAIM);
    for (const manager of ['b', 'a']) sorted.apply(manager, { volumeName: 'a' });
    assert.deepEqual(sorted.apply('c', { volumeName: 'b' }), ['a .volumeName', 'b .volumeName']);
  });
});

describe('structs', () => {
  it('whose last applied field is removed do not remain empty', () => {
    const written = new Written('core.v1.Pod');
    written.apply('one', { spec: { securityContext: { runAsUser: 1 } } });
    written.check(
      { spec: { securityContext: { runAsUser: 1 } } },
      { one: { 'f:spec': { 'f:securityContext': { 'f:runAsUser': {} } } } },
    );
    written.apply('one', {});
    written.check({}, {});
  });

  it('lose their fields by an apply that names them without fields', () => {
    const nullStruct = { securityContext: null };
    const written = new Written(SPEC);
    written.apply('one', { securityContext: { runAsUser: 1 } });
    written.apply('one', nullStruct);
    written.check(nullStruct, { one: { 'f:securityContext': {} } });
  });

  it('keep the fields of an updater, and those that it took over', () => {
    const context = (runAsUser: number) => ({ securityContext: { runAsUser, fsGroup: 2 } });
    const added = new Written(SPEC);
    added.apply('one', { securityContext: { runAsUser: 1 } });
    added.update('controller', context(1));
    added.apply('one', {});
    added.check({ securityContext: { fsGroup: 2 } }, { controller: { 'f:securityContext': { 'f:fsGroup': {} } } });
    const taken = new Written(SPEC);
    taken.apply('one', { securityContext: { runAsUser: 1 } });
    taken.update('controller', context(3));
    taken.apply('one', { securityContext: null });
    assert.deepEqual(taken.object, context(3));
  });

  it('keep fields that have no owner', () => {
    const written = new Written('core.v1.Pod');
    written.apply('one', { spec: { hostname: 'a', subdomain: 'b' } });
    written.object = { spec: { hostname: 'a', subdomain: 'b', nodeName: 'n' } };
    written.apply('one', { spec: { subdomain: 'b' } });
    written.check({ spec: { subdomain: 'b', nodeName: 'n' } }, { one: { 'f:spec': { 'f:subdomain': {} } } });
  });

  it('that are atomic are one field', () => {
    const selector = { matchLabels: { a: '1' } };
    const written = new Written(CLAIM);
    written.apply('one', { selector });
    written.check({ selector }, { one: { 'f:selector': {} } });
  });

  it('of an update are owned from where the live object had nothing', () => {
    const written = new Written('core.v1.Pod');
    written.object = { metadata: {}, spec: { containers: null }, status: {} };
    written.update('controller', { ...written.object, metadata: { labels: { a: '1' } } });
    assert.deepEqual(formatFieldsV1(written.managers.get('controller')!.fields), {
      'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
    });
  });
});

describe('fields below a list, map or struct that is atomic', () => {
  const owned = {
    'f:env': { 'k:{"name":"A"}': { 'f:valueFrom': { 'f:fieldRef': { '.': {}, 'f:fieldPath': {} } } } },
    'f:command': { 'v:"a"': {} },
    'f:image': {},
  };
  const container = (fieldPath: string) => ({
    command: ['a'],
    env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } }],
  });
  const written = () => {
    const made = new Written('core.v1.Container');
    made.object = container('metadata.name');
    made.managers = new Map([['old', { fields: parseFieldsV1(owned), isApplied: true }]]);
    return made;
  };

  it('count as the whole of it, which a forced apply takes over', () => {
    const other = { env: container('metadata.uid').env };
    assert.deepEqual(written().apply('new', other), ['old .env[name="A"].valueFrom.fieldRef']);
    const forced = written();
    forced.apply('new', other, true);
    const fields = { 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:valueFrom': { 'f:fieldRef': {} } } };
    forced.check({ command: ['a'], ...other }, { old: { 'f:command': {}, 'f:image': {} }, new: { 'f:env': fields } });
  });

  it('count as the whole of it in updates, and if their applier leaves them out', () => {
    const updated = written();
    updated.update('controller', { ...container('metadata.uid'), command: ['b'] });
    const taken = { 'k:{"name":"A"}': { 'f:valueFrom': { 'f:fieldRef': {} } } };
    assert.deepEqual(formatFieldsV1(updated.managers.get('controller')!.fields), { 'f:command': {}, 'f:env': taken });
    const applied = written();
    applied.apply('old', { env: container('metadata.name').env });
    assert.deepEqual(applied.object, { env: container('metadata.name').env });
  });
});

it('ignored fields have no owner', () => {
  const written = new Written('core.v1.Pod', { 'f:status': {}, 'f:metadata': { 'f:name': {} } });
  const object = { metadata: { name: 'a', labels: { x: '1' } }, status: { phase: 'Running' } };
  written.apply('one', object);
  written.check(object, { one: { 'f:metadata': { 'f:labels': { 'f:x': {} } } } });
  assert.deepEqual(written.apply('two', { status: { phase: 'Failed' } }), []);
});

it('the unchanged fields of a configuration are those that the object has with the same values', () => {
  const updater = new FieldUpdater({ schema, type: schema.type('core.v1.Pod') });
  const configuration = { metadata: { labels: { a: '1', b: '1' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const object = {
    metadata: { labels: { a: '1', b: '2' } },
    spec: { containers: [{ name: 'c', image: 'i' }, { name: 'd' }] },
  };
  const fields = [
    '.metadata.labels.a',
    '.spec.containers[name="c"]',
    '.spec.containers[name="c"].image',
    '.spec.containers[name="c"].name',
  ];
  assert.deepEqual([...updater.unchangedFields(configuration, object)].sort(), fields);
});

describe('structs', () => {
  it('are replaced as a whole if their type is atomic, and merged if the field is granular', () => {
    const claim = new Written(CLAIM);
    claim.apply('default', { dataSource: { kind: 'a', name: 'b' } });
    claim.check({ dataSource: { kind: 'a', name: 'b' } }, { default: { 'f:dataSource': {} } });
    const volume = new Written('core.v1.PersistentVolumeSpec');
    volume.apply('default', { claimRef: { name: 'a' } });
    volume.apply('binder', { claimRef: { uid: '1' } });
    const managers = { default: { 'f:claimRef': { 'f:name': {} } }, binder: { 'f:claimRef': { 'f:uid': {} } } };
    volume.check({ claimRef: { name: 'a', uid: '1' } }, managers);
  });
});
