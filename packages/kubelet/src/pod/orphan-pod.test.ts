import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { orphanPod } from './orphan-pod.ts';

test('an orphaned pod has the grace period from its containers’ annotations', () => {
  const container = { name: 'app', image: 'busybox:1', terminationGracePeriodSeconds: 1 } as RuntimeContainer;
  const pod = { uid: 'u1', namespace: 'default', name: 'web' };
  const { spec } = orphanPod({ pod, sandboxes: [], containers: [container] });
  assert.equal(spec.terminationGracePeriodSeconds, 1);
  assert.deepEqual(
    spec.containers.map(({ name }) => name),
    ['app'],
  );
  assert.equal(orphanPod({ pod, sandboxes: [], containers: [] }).spec.terminationGracePeriodSeconds, undefined);
});

test('an orphaned pod has its init containers, sidecars and ephemeral containers in the proper lists and order', () => {
  const container = (name: string, listed?: RuntimeContainer['listed']) =>
    ({ name, image: 'busybox:1', restartCount: 0, listed }) as RuntimeContainer;
  const init = (position: number, restartPolicy?: 'Always') => ({
    list: 'initContainers' as const,
    position,
    restartPolicy,
  });
  const containers = [
    container('debugger', { list: 'ephemeralContainers', position: 0 }),
    container('app'),
    container('proxy', init(2, 'Always')),
    container('prepare', init(1)),
    container('vault', init(0, 'Always')),
  ];
  const { spec } = orphanPod({ pod: { uid: 'u1', namespace: 'default', name: 'web' }, sandboxes: [], containers });
  const image = 'busybox:1';
  assert.deepEqual(spec.initContainers, [
    { name: 'vault', image, restartPolicy: 'Always' },
    { name: 'prepare', image },
    { name: 'proxy', image, restartPolicy: 'Always' },
  ]);
  assert.deepEqual(spec.containers, [{ name: 'app', image }]);
  assert.deepEqual(spec.ephemeralContainers, [{ name: 'debugger', image }]);
});
