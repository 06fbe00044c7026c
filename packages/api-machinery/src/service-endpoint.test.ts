import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NoEndpoint, serviceEndpoint } from './service-endpoint.ts';
import { MemoryStore } from './store/memory-store.ts';

const PLACE = { namespace: 'tools', name: 'hook' };

test('only ready endpoints with the Service’s port are used; an external name is itself an endpoint', () => {
  const store = new MemoryStore({});
  assert.throws(() => serviceEndpoint(store, PLACE, 443), new NoEndpoint('service "hook" not found'));
  const spec = { ports: [{ name: 'https', port: 443 }] };
  const service = store.create({ resource: 'services', ...PLACE }, { metadata: PLACE, spec });
  assert.throws(() => serviceEndpoint(store, PLACE, 443), new NoEndpoint('no endpoints available for service "hook"'));
  assert.throws(() => serviceEndpoint(store, PLACE, 1), new NoEndpoint('no service port 1 found for service "hook"'));
  const labels = { 'kubernetes.io/service-name': 'hook' };
  const endpoints = [
    { addresses: ['10.0.0.1'], conditions: { ready: false } },
    { addresses: ['10.0.0.2'], conditions: {} },
  ];
  const ports = [{ name: 'https', port: 8443 }];
  const slice = { metadata: { ...PLACE, labels }, addressType: 'IPv4', endpoints, ports };
  store.create({ resource: 'endpointslices.discovery.k8s.io', ...PLACE }, slice);
  assert.deepEqual(serviceEndpoint(store, PLACE, 443), { host: '10.0.0.2', port: 8443, isExternal: false });
  const external = { metadata: PLACE, spec: { type: 'ExternalName', externalName: 'x.example' } };
  store.update({ resource: 'services', ...PLACE }, external, service.revision);
  assert.deepEqual(serviceEndpoint(store, PLACE, 99), { host: 'x.example', port: 99, isExternal: true });
});
