import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore, type ObjectStore } from '@podwright/api-machinery';
import { webhookTarget } from './webhook-target.ts';

const CA = Buffer.from('certificates').toString('base64');

function storeWith(spec: object, slices: readonly object[]): ObjectStore {
  const store = new MemoryStore({});
  const service = { metadata: { name: 'hook', namespace: 'tools' }, spec };
  store.create({ resource: 'services', namespace: 'tools', name: 'hook' }, service);
  for (const [index, slice] of slices.entries()) {
    const name = `hook-${index}`;
    const labels = { 'kubernetes.io/service-name': 'hook' };
    const key = { resource: 'endpointslices.discovery.k8s.io', namespace: 'tools', name };
    store.create(key, { metadata: { name, namespace: 'tools', labels }, ...slice });
  }
  return store;
}

const service = (more: object = {}) => ({
  clientConfig: { caBundle: CA, service: { namespace: 'tools', name: 'hook', port: 443, path: '/check', ...more } },
});
const PORTS = { ports: [{ name: 'https', port: 443 }] };
const slice = (addresses: string[], more: object = {}) => ({
  ...{ addressType: 'IPv4', ports: [{ name: 'https', port: 8443 }] },
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  ...more,
});

test('a webhook with a Service is called at a ready endpoint, verifying the Service’s name in its certificate', () => {
  const unready = { addresses: ['10.0.0.9'], conditions: { ready: false } };
  const other = { addressType: 'IPv6', ports: [{ name: 'https', port: 1 }] };
  const slices = [slice(['fd00::1'], other), slice([], { endpoints: [unready] }), slice(['10.0.0.1'])];
  assert.deepEqual(webhookTarget(service(), storeWith({ ...PORTS, ipFamilies: ['IPv4'] }, slices)), {
    ...{ authority: 'hook.tools.svc:443', serverName: 'hook.tools.svc', host: '10.0.0.1', port: 8443 },
    ...{ path: '/check', authorities: 'certificates' },
  });
  const external = webhookTarget(
    service({ port: 99 }),
    storeWith({ type: 'ExternalName', externalName: 'x.example' }, []),
  );
  assert.deepEqual([external.host, external.port, external.serverName], ['x.example', 99, 'hook.tools.svc']);
});

test('a Service without the port or without a ready endpoint is an error', () => {
  const fails = (config: object, store: ObjectStore, message: RegExp) =>
    assert.throws(() => webhookTarget(config as never, store), { message });
  const start = 'failed to call webhook: Post "https://hook\\.tools\\.svc:443/check": ';
  fails(service(), new MemoryStore({}), new RegExp(`^${start}service "hook" not found$`));
  fails(service(), storeWith(PORTS, []), new RegExp(`^${start}no endpoints available for service "hook"$`));
  fails(service({ port: 1 }), storeWith(PORTS, [slice(['10.0.0.1'])]), /no service port 1 found for service "hook"$/);
});

test('a webhook with a URL is called at its host, port and path', () => {
  const at = (url: string) => {
    const { authority, host, port, path } = webhookTarget({ clientConfig: { url } }, new MemoryStore({}));
    return [authority, host, port, path];
  };
  assert.deepEqual(at('https://example.com/a/b'), ['example.com', 'example.com', 443, '/a/b']);
  assert.deepEqual(at('https://[::1]:8443'), ['[::1]:8443', '::1', 8443, '/']);
});
