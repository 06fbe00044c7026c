import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { orphanPod } from './orphan-pod.ts';

test('an orphan pod has the grace period from the annotations of its containers', () => {
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
