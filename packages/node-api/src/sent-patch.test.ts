import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { jsonPatch } from './json-patch.ts';
import { asMergePatch, asStatusPatch, jsonEphemeralPatch, jsonResizePatch, sentKind } from './sent-patch.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u', labels: { 'a/b': '1', c: '2' } },
  spec: { containers: [{ name: 'a', image: 'i', resources: { limits: { cpu: '1', memory: '1Gi' } } }] },
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'example.com/old', status: 'True' },
    ],
  },
};

const ops = (...operations: object[]) => JSON.stringify(operations);

test('the operations produce the results in the appendix of RFC 6902', () => {
  const check = (before: object, operations: object[], expected: object) =>
    assert.deepEqual(jsonPatch(before, ops(...operations)), expected);
  check({ foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' });
  check({ foo: ['bar', 'baz'] }, [{ op: 'add', path: '/foo/1', value: 'qux' }], { foo: ['bar', 'qux', 'baz'] });
  check({ foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc'] }], { foo: ['bar', ['abc']] });
  check({ baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' });
  check({ foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['bar', 'baz'] });
  check({ baz: 'qux' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo' });
  check({ foo: { a: 1 }, b: {} }, [{ op: 'move', from: '/foo/a', path: '/b/a' }], { foo: {}, b: { a: 1 } });
  check({ foo: [1, 2, 3] }, [{ op: 'move', from: '/foo/0', path: '/foo/2' }], { foo: [2, 3, 1] });
  check({ a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } });
  check({ '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 });
  check({ 'a/b': 1 }, [{ op: 'remove', path: '/a~1b' }], {});
  check({ foo: null }, [{ op: 'test', path: '/foo', value: null }], { foo: null });
  check({}, [{ op: 'add', path: '', value: { a: 1 } }], { a: 1 });
});

test('an unknown or mismatched operation is rejected with its index, and __proto__ is an ordinary field', () => {
  const refused = (operation: object | string, why: RegExp) =>
    assert.throws(() => jsonPatch({ a: [1], b: {} }, typeof operation === 'string' ? operation : ops(operation)), {
      code: 'invalid_argument',
      message: why,
    });
  refused({ op: 'remove', path: '/c' }, /^read the patch: \[0\]: remove \/c: the field does not exist$/);
  refused({ op: 'add', path: '/c/d', value: 1 }, /the parent of this field does not exist/);
  refused({ op: 'add', path: '/a/2', value: 1 }, /no index 2/);
  refused({ op: 'add', path: '/a/01', value: 1 }, /no index 01/);
  refused({ op: 'add', path: '/b/c' }, /no value/);
  refused({ op: 'test', path: '/a/0', value: '1' }, /the value is different/);
  refused({ op: 'copy', from: '/c', path: '/d' }, /the field does not exist/);
  refused({ op: 'merge', path: '/a' }, /unknown operation; use add/);
  refused({ op: 'remove', path: 'a' }, /path such as/);
  refused({ op: 'remove', path: '' }, /the result is not an object/);
  refused('{"metadata":{}}', /list of operations/);
  refused('[', /it is not JSON/);
  refused(JSON.stringify(Array(10_001).fill({ op: 'test', path: '/c' })), /more than 10000/);
  const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '', path: `/b/${index}` }));
  refused(JSON.stringify(doubling), /copies more than/);
  const patched = jsonPatch({}, '[{"op":"add","path":"/__proto__","value":{"polluted":true}}]');
  assert.equal((patched as { polluted?: boolean }).polluted, undefined);
  assert.deepEqual(Object.keys(patched), ['__proto__']);
});

test('a JSON patch is converted to a merge patch of the changes', () => {
  const check = (operations: object[], expected: object) =>
    assert.deepEqual(JSON.parse(asMergePatch(ops(...operations), pod)), expected);
  check([{ op: 'test', path: '/metadata/labels/c', value: '2' }], {});
  check([{ op: 'replace', path: '/metadata/labels/c', value: '3' }], { metadata: { labels: { c: '3' } } });
  check([{ op: 'remove', path: '/metadata/labels/a~1b' }], { metadata: { labels: { 'a/b': null } } });
  check([{ op: 'remove', path: '/metadata/labels' }], { metadata: { labels: { 'a/b': null, c: null } } });
  check([{ op: 'add', path: '/metadata/annotations', value: { d: 'e' } }], { metadata: { annotations: { d: 'e' } } });
});

test('a JSON patch of a status is converted to a patch of only the changed conditions', () => {
  const check = (operations: object[], expected: object) =>
    assert.deepEqual(JSON.parse(asStatusPatch(ops(...operations), pod)), expected);
  const gate = { type: 'example.com/gate', status: 'True' };
  check([{ op: 'add', path: '/status/conditions/-', value: gate }], { status: { conditions: [gate] } });
  check([{ op: 'remove', path: '/status/conditions/1' }], {
    status: { conditions: [{ type: 'example.com/old', $patch: 'delete' }] },
  });
  check([{ op: 'replace', path: '/status/phase', value: 'Failed' }], { status: { phase: 'Failed' } });
});

test('a JSON patch can resize or add ephemeral containers, but nothing else', () => {
  const cpu = '/spec/containers/0/resources/limits/cpu';
  const { containers } = jsonResizePatch(ops({ op: 'replace', path: cpu, value: '2' }), pod);
  assert.deepEqual(containers.get('a'), { limits: { cpu: '2', memory: '1Gi' } });
  const refused = (work: () => unknown) => assert.throws(work, { code: 'invalid_argument' });
  refused(() => jsonResizePatch(ops({ op: 'remove', path: cpu }), pod));
  refused(() => jsonResizePatch(ops({ op: 'replace', path: '/spec/containers/0/image', value: 'x' }), pod));
  const add = { op: 'add', path: '/spec/ephemeralContainers', value: [{ name: 'd', image: 'b' }] };
  assert.equal(jsonEphemeralPatch(ops(add), pod).containers[0]?.name, 'd');
  refused(() => jsonEphemeralPatch(ops(add, { op: 'remove', path: cpu }), pod));
});

test('the content type determines the patch type', () => {
  assert.equal(sentKind('application/json-patch+json; charset=utf-8'), 'json');
  assert.equal(sentKind('application/json', { 'application/json': 'whole' }), 'whole');
  assert.throws(() => sentKind('application/json-patch'), /did you mean "application\/json-patch\+json"/);
});
