import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Written } from './written-object.fixture.ts';

const SPEC = 'core.v1.PodSpec';
const names = (...of: string[]) => ({ containers: of.map((name) => ({ name })) });
const owned = (...of: string[]) => ({
  'f:containers': Object.fromEntries(of.map((name) => [`k:{"name":"${name}"}`, { '.': {}, 'f:name': {} }])),
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
