import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resource } from '@podwright/kube-schema';
import { groupsOf, isServedByDefault } from './group-versions.ts';

const resource = (group: string, version: string, plural: string): Resource => ({
  group,
  version,
  kind: plural,
  plural,
  singular: plural,
  namespaced: true,
  verbs: ['list'],
});

test('built-in groups come by priority, other groups by name', () => {
  const groups = groupsOf([
    resource('example.org', 'v1', 'things'),
    resource('batch', 'v1', 'jobs'),
    resource('acme.example', 'v1', 'widgets'),
    resource('autoscaling', 'v1', 'horizontalpodautoscalers'),
    resource('', 'v1', 'pods'),
    resource('autoscaling', 'v2', 'horizontalpodautoscalers'),
    resource('', 'v1', 'configmaps'),
  ]);
  assert.deepEqual(
    groups.map(({ name }) => name),
    ['', 'autoscaling', 'batch', 'acme.example', 'example.org'],
  );
  assert.deepEqual(
    groups[1]!.versions.map(({ version }) => version),
    ['v2', 'v1'],
  );
  assert.deepEqual(
    groups[0]!.versions[0]!.resources.map(({ plural }) => plural),
    ['configmaps', 'pods'],
  );
});

test('only stable versions are served by default', () => {
  const versions = ['v1', 'v2', 'v1beta1', 'v1alpha3', 'v2beta2'];
  const served = versions.filter((version) => isServedByDefault(resource('batch', version, 'jobs')));
  assert.deepEqual(served, ['v1', 'v2']);
});
