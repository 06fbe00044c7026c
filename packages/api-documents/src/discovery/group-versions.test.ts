import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resource } from '@podwright/kube-schema';
import { type ExtensionVersion, groupsOf, inLegacyOrder, isServedByDefault } from './group-versions.ts';

const resource = (group: string, version: string, plural: string): Resource => ({
  group,
  version,
  kind: plural,
  plural,
  singular: plural,
  namespaced: true,
  verbs: ['list'],
});

test('built-in groups are sorted by priority, other groups by name', () => {
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

const extension = (group: string, version: string, priority: ExtensionVersion['priority']): ExtensionVersion => ({
  ...{ group, version, priority, resources: [], isCurrent: true },
});

test('the priorities of APIServices determine the order of groups and versions', () => {
  const groups = groupsOf(
    [resource('apps', 'v1', 'deployments'), resource('metrics.k8s.io', 'v1beta1', 'pods')],
    [
      extension('b.example', 'v1', { group: 500, version: 1 }),
      extension('b.example', 'v2', { group: 17_900, version: 1 }),
      extension('b.example', 'v1beta1', { group: 10, version: 2 }),
      extension('a.example', 'v1', { group: 500, version: 1 }),
      extension('metrics.k8s.io', 'v1beta1', { group: 600, version: 1 }),
    ],
  );
  assert.deepEqual(
    groups.map(({ name, versions }) => `${name}: ${versions.map(({ version }) => version)}`),
    ['b.example: v1beta1,v2,v1', 'apps: v1', 'metrics.k8s.io: v1beta1', 'a.example: v1'],
  );
  assert.deepEqual(
    groups[2]!.versions[0]!.resources,
    [],
    'an extension API server replaces the resources of this server',
  );
});

test('unaggregated discovery sorts groups of equal priority by the names of their APIServices', () => {
  const custom = (group: string, version: string) => ({ ...resource(group, version, 'x'), isCustom: true as const });
  const groups = groupsOf([custom('b.example', 'v1'), custom('a.example', 'v1beta1'), custom('c.example', 'v1alpha1')]);
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);
  assert.deepEqual(names(groups), ['a.example', 'b.example', 'c.example']);
  assert.deepEqual(names(inLegacyOrder(groups)), ['b.example', 'c.example', 'a.example']);
});
