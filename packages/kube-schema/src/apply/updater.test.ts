/** Sequences of writes as in structured-merge-diff's own tests (merge/{leaf,set,nested,multiple_appliers}_test.go), on built-in types. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../json.ts';
import { Schema } from '../schema/schema.ts';
import { formatFieldsV1, parseFieldsV1 } from './fields-v1.ts';
import { FieldUpdater, type Managers } from './updater.ts';

const schema = await Schema.load();

/** An object with its managers, to which a test applies configurations and updates. */
class Written {
  object: JsonObject = {};
  managers: Managers = new Map();
  readonly #updater: FieldUpdater;

  constructor(type: string, ignored?: JsonObject) {
    this.#updater = new FieldUpdater({ schema, type: schema.type(type), ignored: ignored && parseFieldsV1(ignored) });
  }

  /** Applies, and returns the conflicts as `MANAGER FIELD`. */
  apply(manager: string, configuration: JsonObject, force = false): string[] {
    const change = { live: this.object, configuration, managers: this.managers, manager, force };
    const before = structuredClone(change.live);
    const applied = this.#updater.apply(change);
    assert.deepEqual(change.live, before, 'the live object is not modified');
    if ('conflicts' in applied) return applied.conflicts.map((one) => `${one.manager} ${one.field}`);
    this.object = applied.object;
    this.managers = applied.managers;
    return [];
  }

  update(manager: string, object: JsonObject): void {
    this.managers = this.#updater.update({ live: this.object, object, managers: this.managers, manager });
    this.object = object;
  }

  check(object: JsonObject, managers: Record<string, JsonObject>): void {
    assert.deepEqual(this.object, object);
    const sets = [...this.managers].map(([name, { fields }]) => [name, formatFieldsV1(fields)]);
    assert.deepEqual(Object.fromEntries(sets), managers);
  }
}

const CLAIM = 'core.v1.PersistentVolumeClaimSpec';
const SPEC = 'core.v1.PodSpec';
const names = (...of: string[]) => ({ containers: of.map((name) => ({ name })) });
const owned = (...of: string[]) => ({
  'f:containers': Object.fromEntries(of.map((name) => [`k:{"name":"${name}"}`, { '.': {}, 'f:name': {} }])),
});

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

describe('lists with keys', () => {
  it('lose elements that their applier leaves out, and only these', () => {
    const written = new Written(SPEC);
    written.apply('one', names('a', 'b', 'c'));
    written.apply('two', names('c', 'd'));
    written.apply('one', names('a'));
    written.check(names('a', 'c', 'd'), { one: owned('a'), two: owned('c', 'd') });
  });

  it('conflict in the fields of their elements', () => {
    const written = new Written(SPEC);
    written.apply('one', { containers: [{ name: 'a', image: 'x' }] });
    const conflicts = written.apply('two', { containers: [{ name: 'a', image: 'y' }, { name: 'b' }] });
    assert.deepEqual(conflicts, ['one .containers[name="a"].image']);
  });

  it('lose an element also if an updater owns a field of it, but not if another applier does', () => {
    const written = new Written(SPEC);
    const changed = (name: string) => ({ name, image: 'x' });
    written.apply('one', names('a', 'b', 'c'));
    written.update('controller', { containers: [{ name: 'a' }, changed('b'), { name: 'c' }] });
    written.apply('two', { containers: [changed('c')] });
    written.apply('one', names('a'));
    const two = { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {} } } };
    written.check({ containers: [{ name: 'a' }, changed('c')] }, { one: owned('a'), two });
  });

  it('may have elements with the same key in updates', () => {
    const written = new Written('core.v1.Container');
    const env = (...values: string[]) => ({ env: values.map((value) => ({ name: 'x', value })) });
    written.update('controller', env('1', '2'));
    written.check(env('1', '2'), { controller: { 'f:env': { '.': {}, 'k:{"name":"x"}': {} } } });
    written.update('other', env('1', '3'));
    written.check(env('1', '3'), {
      controller: { 'f:env': {} },
      other: { 'f:env': { 'k:{"name":"x"}': {} } },
    });
  });
});

describe('sets and maps', () => {
  it('are owned value by value and key by key', () => {
    const written = new Written('meta.v1.ObjectMeta');
    written.apply('one', { finalizers: ['a'], labels: { x: '1' } });
    written.apply('two', { finalizers: ['b'], labels: { y: '2' } });
    const managers = (value: string, key: string) => ({
      'f:finalizers': { [`v:"${value}"`]: {} },
      'f:labels': { [`f:${key}`]: {} },
    });
    written.check(
      { finalizers: ['a', 'b'], labels: { x: '1', y: '2' } },
      { one: managers('a', 'x'), two: managers('b', 'y') },
    );
    written.apply('one', {});
    written.check({ finalizers: ['b'], labels: { y: '2' } }, { two: managers('b', 'y') });
  });

  it('that are atomic are one field', () => {
    const written = new Written(SPEC);
    written.apply('one', { nodeSelector: { a: '1' }, tolerations: [{ key: 'a' }] });
    const managers = { one: { 'f:nodeSelector': {}, 'f:tolerations': {} } };
    written.check({ nodeSelector: { a: '1' }, tolerations: [{ key: 'a' }] }, managers);
    assert.deepEqual(written.apply('two', { nodeSelector: { b: '1' } }), ['one .nodeSelector']);
  });

  it('that are empty are owned themselves', () => {
    const written = new Written('core.v1.Volume');
    written.apply('one', { name: 'v', emptyDir: {} });
    written.check({ name: 'v', emptyDir: {} }, { one: { 'f:emptyDir': {}, 'f:name': {} } });
    written.apply('one', { name: 'v' });
    written.check({ name: 'v' }, { one: { 'f:name': {} } });
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
    const written = new Written(SPEC);
    written.apply('one', { hostname: 'a', subdomain: 'b' });
    written.object = { ...written.object, nodeName: 'n' };
    written.apply('one', { subdomain: 'b' });
    written.check({ subdomain: 'b', nodeName: 'n' }, { one: { 'f:subdomain': {} } });
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

it('ignored fields have no owner', () => {
  const written = new Written('core.v1.Pod', { 'f:status': {}, 'f:metadata': { 'f:name': {} } });
  const object = { metadata: { name: 'a', labels: { x: '1' } }, status: { phase: 'Running' } };
  written.apply('one', object);
  written.check(object, { one: { 'f:metadata': { 'f:labels': { 'f:x': {} } } } });
  assert.deepEqual(written.apply('two', { status: { phase: 'Failed' } }), []);
});
