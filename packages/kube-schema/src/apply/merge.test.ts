import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../json.ts';
import { Schema } from '../schema/schema.ts';
import { mergeApplied } from './merge.ts';
import { structNode } from './node.ts';

const schema = await Schema.load();
const node = (type: string) => structNode(schema, schema.type(type));

/** Checks the merge of a live and an applied set of scalars, each written in the form `a b c`. */
function checkSet(live: string, applied: string, expected: string): void {
  const object = (text: string) => ({ finalizers: text === '' ? [] : text.split(' ') });
  const merged = mergeApplied(node('meta.v1.ObjectMeta'), object(live), object(applied)) as JsonObject;
  assert.deepEqual(merged, object(expected), `${live} + ${applied}`);
}

/** Checks the merge of live and applied lists of ports, each written in the form `80/TCP 81/UDP`. */
function checkPorts(live: string, applied: string, expected: string): void {
  const ports = (text: string) =>
    text.split(' ').map((one) => ({ port: Number(one.split('/')[0]), protocol: one.split('/')[1] }));
  const merged = mergeApplied(node('core.v1.ServiceSpec'), { ports: ports(live) }, { ports: ports(applied) });
  assert.deepEqual(merged, { ports: ports(expected) }, `${live} + ${applied}`);
}

describe('sets', () => {
  it('are merged in the order of structured-merge-diff', () => {
    // cases from structured-merge-diff's typed/merge_test.go
    checkSet('a b c', 'a b', 'a b c');
    checkSet('a b', 'a b c', 'a b c');
    checkSet('a b c', '', 'a b c');
    checkSet('', 'a b c', 'a b c');
    checkSet('a b', 'b a', 'b a');
    checkSet('a b c', 'd e f', 'a b c d e f');
    checkSet('a b c', 'c d e f', 'a b c d e f');
    checkSet('a b c g f', 'c d e f', 'a b c g d e f');
    checkSet('c d e f', 'a c e', 'a c d e f');
    checkSet('a b c x y z', 'd e f', 'a b c x y z d e f');
    checkSet('a b c x y z', 'd e f x y z', 'a b c d e f x y z');
    checkSet('c a g f', 'c f a g', 'c f a g');
    checkSet('a b c d', 'd e f a', 'b c d e f a');
    checkSet('c d e f g h i j', '2 h 3 e 4 k l', 'c d f g 2 h i j 3 e 4 k l');
    checkSet('a b c d e f g h i j', '1 b 2 h 3 e 4 k l', 'a 1 b c d f g 2 h i j 3 e 4 k l');
  });

  it('may have duplicates in the live object, which are replaced as a whole', () => {
    checkSet('a b b', 'c', 'a b b c');
    checkSet('a b b', 'b', 'a b');
    checkSet('a b b', 'a', 'a b b');
    checkSet('a b c d e c', '1 b 2 e d', 'a 1 b c 2 e c d');
    const apply = () => checkSet('', 'a a', '');
    assert.throws(apply, { code: 'invalid_argument', message: 'duplicate entries for key [="a"]' });
  });
});

describe('lists with keys', () => {
  it('are merged by all keys', () => {
    checkPorts('1/TCP', '1/UDP', '1/TCP 1/UDP');
    checkPorts('1/TCP 2/TCP', '1/TCP 1/UDP', '1/TCP 2/TCP 1/UDP');
    checkPorts('2/UDP', '1/TCP 2/UDP 3/TCP', '1/TCP 2/UDP 3/TCP');
    checkPorts('1/TCP 2/TCP 3/TCP', '3/TCP 2/TCP', '1/TCP 3/TCP 2/TCP');
    checkPorts('1/TCP 2/TCP 3/TCP', '3/TCP 1/TCP', '2/TCP 3/TCP 1/TCP');
  });

  it('may have duplicates in the live object, which are replaced as a whole', () => {
    const env = (...values: object[]) => ({ env: values.map((one) => ({ name: 'a', ...one })) });
    const merged = mergeApplied(node('core.v1.Container'), env({ value: '1' }, { valueFrom: {} }), env({ value: '3' }));
    assert.deepEqual(merged, env({ value: '3' }));
  });

  it('use the default of a key that is absent', () => {
    const live = { ports: [{ port: 80, protocol: 'TCP', nodePort: 30000 }] };
    const merged = mergeApplied(node('core.v1.ServiceSpec'), live, { ports: [{ port: 80, name: 'web' }] });
    assert.deepEqual(merged, { ports: [{ ...live.ports[0], name: 'web' }] });
  });

  it('need a key in each element', () => {
    const apply = (ports: unknown[]) => () => mergeApplied(node('core.v1.PodSpec'), {}, { containers: ports });
    const code = 'invalid_argument';
    assert.throws(apply([{ image: 'a' }]), { code, message: /omits all key fields \["name"\]/ });
    assert.throws(apply(['a']), { code, message: /non-map elements/ });
  });
});

it('atomic lists, maps and structs are replaced, and others are merged', () => {
  const live = { nodeSelector: { a: '1' }, tolerations: [{ key: 'a' }], overhead: { cpu: '1' }, hostname: 'h' };
  const applied = { nodeSelector: { b: '2' }, tolerations: [{ key: 'b' }], overhead: { memory: '1' } };
  const expected = { ...applied, overhead: { cpu: '1', memory: '1' }, hostname: 'h' };
  assert.deepEqual(mergeApplied(node('core.v1.PodSpec'), live, applied), expected);
});
