import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, MemoryStore } from '@podwright/api-machinery';
import { proxyTarget } from './proxy-target.ts';
import { serviceBackend } from './service-backend.ts';

const store = new MemoryStore();

function put(resource: string, name: string, fields: object): void {
  const object = { apiVersion: 'v1', metadata: { name, namespace: 'shop' }, ...fields };
  store.create({ resource, namespace: 'shop', name }, object);
}

const refTo = (name: string, namespace = 'shop') => ({ kind: 'Pod', namespace, name });
put('pods', 'a', { status: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] } });
put('pods', 'local', { status: { podIPs: [{ ip: '127.0.0.1' }] } });
put('services', 'web', {
  spec: {
    ports: [
      { name: 'http', port: 80 },
      { name: 'tls', port: 443 },
    ],
  },
});
const addresses = [
  { ip: '10.0.0.9', targetRef: refTo('a') }, // not the pod's
  { ip: '10.0.0.1' },
  { ip: '10.0.0.1', targetRef: refTo('a', 'other') },
  { ip: '10.0.0.2', targetRef: refTo('none') },
  { ip: '127.0.0.1', targetRef: refTo('local') },
];
const ports = [
  { name: 'http', port: 8080 },
  { name: 'tls', port: 8443 },
];
put('endpoints', 'web', { subsets: [{ addresses: [...addresses, { ip: '10.0.0.1', targetRef: refTo('a') }], ports }] });
put('endpoints', 'hostile', { subsets: [{ addresses, ports }] });
put('endpoints', 'empty', {});
put('endpoints', 'plain', {
  subsets: [{ addresses: [{ ip: 'fd00::1', targetRef: refTo('a') }], ports: [{ port: 1 }] }],
});

function found(id: string): string {
  try {
    const { scheme, authority } = serviceBackend(store, 'shop', proxyTarget('service', id));
    return `${scheme} ${authority}`;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return `${error.status.code} ${error.message}`;
  }
}

test('a service is reached via an endpoint that is a pod in its namespace', () => {
  const check = (id: string, expected: string) => assert.equal(found(id), expected);
  for (let time = 0; time < 20; time++) check('web:http', 'http 10.0.0.1:8080');
  check('web:443', 'http 10.0.0.1:8443');
  check('https:web:443', 'https 10.0.0.1:8443');
  check('plain', 'http [fd00::1]:1');
  check('https:plain:', 'https [fd00::1]:1');
});

test('other services are unavailable', () => {
  const check = (id: string, expected: string) => assert.equal(found(id), expected);
  check('web', '503 no endpoints available for service "web"');
  check('web:81', '503 no service port 81 found for service "web"');
  check('web:none', '503 no endpoints available for service "web:none"');
  check('hostile:http', '503 no endpoints available for service "hostile:http"');
  check('empty', '503 no endpoints available for service "empty"');
  check('none', '404 endpoints "none" not found');
  check('none:80', '404 services "none" not found');
});
