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
