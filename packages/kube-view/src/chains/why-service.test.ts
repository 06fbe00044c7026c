import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import type { ViewReader } from '../view-reader.ts';
import { whyService } from './why-service.ts';

test('an EndpointSlice whose endpoints an API server sends as null has none', async () => {
  const metadata = { uid: 'u', namespace: 'shop', name: 'web', labels: { 'kubernetes.io/service-name': 'web' } };
  const slice = { metadata, endpoints: null, ports: null } as KubeObject;
  const reader: ViewReader = {
    get: async () => undefined,
    list: async () => [slice],
    events: async () => [],
    log: async () => [],
  };
  const explanation = await whyService(reader, { metadata, spec: {} } as KubeObject);
  assert.equal(explanation.isWell, false);
});

test('workloads that own each other do not keep the explanation from ending', async () => {
  const ownedBy = (name: string) => [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name, controller: true }];
  const set = (name: string, owner: string) => ({
    metadata: { uid: name, namespace: 'shop', name, ownerReferences: ownedBy(owner) },
    spec: { replicas: 1 },
  });
  const pod = {
    metadata: { uid: 'p', namespace: 'shop', name: 'web-x', labels: { app: 'web' }, ownerReferences: ownedBy('a') },
    spec: { containers: [] },
    status: { phase: 'Pending' },
  };
  let reads = 0;
  const reader: ViewReader = {
    get: async (_, __, name) => {
      reads += 1;
      assert.ok(reads < 100);
      return (name === 'a' ? set('a', 'b') : set('b', 'a')) as KubeObject;
    },
    list: async () => [pod] as unknown as KubeObject[],
    events: async () => [],
    log: async () => [],
  };
  const metadata = { uid: 'u', namespace: 'shop', name: 'web' };
  const explanation = await whyService(reader, { metadata, spec: { selector: { app: 'web' } } } as KubeObject);
  assert.equal(explanation.isWell, false);
});
