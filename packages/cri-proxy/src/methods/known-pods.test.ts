import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ContainerStatusRequestSchema,
  create,
  ListContainersResponseSchema,
  ListPodSandboxResponseSchema,
  PodSandboxStatusRequestSchema,
} from '@podwright/cri';
import { KnownPods } from './known-pods.ts';

test('pods that existed before the proxy are learned from lists, which are decoded only as long as IDs are unknown', () => {
  const pods = new KnownPods();
  const sandbox = create(PodSandboxStatusRequestSchema, { podSandboxId: 's1' });
  assert.equal(pods.subjectOf('PodSandboxStatus', sandbox), undefined);
  assert.ok(pods.learnsFrom('ListPodSandbox'));
  const items = [{ id: 's1', metadata: { name: 'web', namespace: 'shop', uid: 'u' } }];
  pods.learn('ListPodSandbox', undefined, create(ListPodSandboxResponseSchema, { items }));
  const containers = [{ id: 'c1', podSandboxId: 's1', metadata: { name: 'app' } }];
  pods.learn('ListContainers', undefined, create(ListContainersResponseSchema, { containers }));
  assert.equal(pods.learnsFrom('ListPodSandbox'), false);
  assert.deepEqual(pods.subjectOf('PodSandboxStatus', sandbox), { namespace: 'shop', pod: 'web' });
  const container = create(ContainerStatusRequestSchema, { containerId: 'c1' });
  assert.deepEqual(pods.subjectOf('ContainerStatus', container), { namespace: 'shop', pod: 'web', container: 'app' });
  pods.subjectOf('ContainerStatus', create(ContainerStatusRequestSchema, { containerId: 'c2' }));
  assert.ok(pods.learnsFrom('ListContainers'));
});
