import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, ResourceRequirements } from '@podwright/kube-api';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { type ContainerToUpdate, decideResize, updateOrder, widestPod, withResource } from './resize-actions.ts';

const current = { id: 'app-0', name: 'app' } as RuntimeContainer;

function check(
  given: ResourceRequirements | undefined,
  wanted: ResourceRequirements,
  { policy, expected }: { policy?: Container['resizePolicy']; expected: string },
): void {
  const container = { name: 'app', image: 'busybox', resources: wanted, resizePolicy: policy };
  const decision = decideResize({ spec: { containers: [container] } }, container, { ...current, given });
  const update = decision.kind === 'update' ? decision.update.resources : [];
  const shown = [decision.kind, ...update.map(({ resource, change }) => `${change} ${resource}`)].join(' ');
  assert.equal(shown, expected);
}

test('a changed container is resized or restarted according to its resize policy, and an unchanged one is left alone', () => {
  const given = { requests: { cpu: '1', memory: '64Mi' }, limits: { memory: '128Mi' } };
  const restart: Container['resizePolicy'] = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
  check(given, { ...given, requests: { cpu: '1000m', memory: '65536Ki' } }, { expected: 'none' });
  check(undefined, given, { expected: 'none' });
  check(given, { ...given, requests: { cpu: '2', memory: '64Mi' } }, { expected: 'update more cpu' });
  check(given, { ...given, limits: { memory: '64Mi' } }, { expected: 'update less memory' });
  check(given, { requests: given.requests }, { expected: 'update more memory' });
  check(given, { ...given, limits: { memory: '1Gi' } }, { policy: restart, expected: 'restart' });
  check(given, { ...given, requests: { cpu: '2', memory: '64Mi' } }, { policy: restart, expected: 'update more cpu' });
});

test('decreases come before increases, and resources change one at a time', () => {
  const update = (name: string, change: 'less' | 'more'): ContainerToUpdate => {
    return { id: name, name, from: {}, to: {}, resources: [{ resource: 'cpu', change }] };
  };
  const updates = [update('a', 'more'), update('b', 'less'), update('c', 'more'), update('d', 'less')];
  assert.deepEqual(
    updateOrder(updates, 'cpu').map(({ name }) => name),
    ['d', 'b', 'a', 'c'],
  );
  assert.deepEqual(updateOrder(updates, 'memory'), []);
  const from = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } };
  const to = { requests: { cpu: '2', memory: '2Gi' } };
  assert.deepEqual(withResource(from, to, 'cpu'), { requests: { cpu: '2', memory: '1Gi' } });
});

test('during a resize the pod gets the larger of the old and new amounts', () => {
  const container = (name: string, resources: ResourceRequirements) => ({ name, image: 'busybox', resources });
  const pod = {
    spec: {
      containers: [
        container('grows', { limits: { cpu: '2', memory: '2Gi' } }),
        container('shrinks', { limits: { cpu: '1', memory: '1Gi' } }),
      ],
    },
  } as Pod;
  const given = { limits: { cpu: '1500m', memory: '1500Mi' } };
  const widest = widestPod(pod, () => given);
  assert.deepEqual(
    widest.spec.containers.map(({ resources }) => resources?.limits),
    [
      { cpu: '2', memory: '2Gi' },
      { cpu: '1500m', memory: '1500Mi' },
    ],
  );
});
