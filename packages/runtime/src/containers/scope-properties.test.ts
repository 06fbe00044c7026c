import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ScopeNeeds, scopeProperties } from './scope-properties.ts';

const needs: ScopeNeeds = {
  cgroupsPath: 'kubepods-pod1.slice:podwright:abc',
  unified: { 'memory.oom.group': '1' },
  privileged: false,
};
const check = (change: Partial<ScopeNeeds>, expected: string[]) =>
  assert.deepEqual(Object.values(scopeProperties({ ...needs, ...change })), expected);

test('a scope whose processes are OOM-killed as a group gets OOMPolicy and CollectMode', () => {
  check({}, ["'kill'", "'inactive-or-failed'"]);
  check({ unified: { 'memory.oom.group': ' 1\n', 'pids.max': '5' } }, ["'kill'", "'inactive-or-failed'"]);
});

test('other cgroups, containers without group OOM kill and privileged containers get no properties', () => {
  check({ cgroupsPath: '/podwright-pods.service/pods/abc' }, []);
  check({ unified: {} }, []);
  check({ unified: { 'memory.oom.group': '0' } }, []);
  check({ privileged: true }, []);
});
