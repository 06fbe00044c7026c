import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '@podwright/kube-api';
import { type PodAccess, reachableServices, serviceVariables } from './service-variables.ts';

function service(place: string, spec: Service['spec']): Service {
  const [namespace, name] = place.split('/') as [string, string];
  return { metadata: { namespace, name, uid: '' }, spec };
}

const SERVICES = [
  service('default/kubernetes', { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] }),
  service('shop/my-db', {
    clusterIP: 'fd00::5',
    ports: [
      { port: 53, protocol: 'UDP' },
      { name: 'tcp-dns', port: 5353 },
    ],
  }),
  service('shop/headless', { clusterIP: 'None', ports: [{ port: 80 }] }),
  service('shop/external', {}),
  service('shop/bare', { clusterIP: '10.0.0.9' }),
  service('other/web', { clusterIP: '10.0.0.7', ports: [{ port: 80 }] }),
];

const KUBERNETES = {
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
  KUBERNETES_PORT: 'tcp://10.0.0.1:443',
  KUBERNETES_PORT_443_TCP: 'tcp://10.0.0.1:443',
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_ADDR: '10.0.0.1',
};

function check(client: { namespace: string; enableServiceLinks: boolean }, expected: Record<string, string>): void {
  assert.deepEqual(Object.fromEntries(serviceVariables(SERVICES, client)), expected);
}

test('a pod gets variables for its namespace’s services and the API server, with upstream’s names and Docker’s link names', () => {
  check(
    { namespace: 'shop', enableServiceLinks: true },
    {
      ...KUBERNETES,
      BARE_SERVICE_HOST: '10.0.0.9',
      MY_DB_SERVICE_HOST: 'fd00::5',
      MY_DB_SERVICE_PORT: '53',
      MY_DB_SERVICE_PORT_TCP_DNS: '5353',
      MY_DB_PORT: 'udp://[fd00::5]:53',
      MY_DB_PORT_53_UDP: 'udp://[fd00::5]:53',
      MY_DB_PORT_53_UDP_PROTO: 'udp',
      MY_DB_PORT_53_UDP_PORT: '53',
      MY_DB_PORT_53_UDP_ADDR: 'fd00::5',
      MY_DB_PORT_5353_TCP: 'tcp://[fd00::5]:5353',
      MY_DB_PORT_5353_TCP_PROTO: 'tcp',
      MY_DB_PORT_5353_TCP_PORT: '5353',
      MY_DB_PORT_5353_TCP_ADDR: 'fd00::5',
    },
  );
});

test('without enableServiceLinks a pod gets only the API server’s variables', () => {
  check({ namespace: 'shop', enableServiceLinks: false }, KUBERNETES);
});

test('if two services have the same name, the one in the pod’s namespace is used', () => {
  const own = service('shop/kubernetes', { clusterIP: '10.0.0.2', ports: [{ name: 'https', port: 8443 }] });
  const variables = serviceVariables([own, ...SERVICES], { namespace: 'shop', enableServiceLinks: true });
  assert.equal(variables.get('KUBERNETES_SERVICE_HOST'), '10.0.0.2');
});

test('the API server variables contain the address at which pods reach it, or are absent', () => {
  const client = { namespace: 'other', enableServiceLinks: false };
  const host = (access: PodAccess | undefined) => {
    const variables = serviceVariables(reachableServices(SERVICES, access), client);
    return [variables.get('KUBERNETES_SERVICE_HOST'), variables.get('KUBERNETES_SERVICE_PORT'), variables.size];
  };
  assert.deepEqual(host(undefined), ['10.0.0.1', '443', 8]);
  assert.deepEqual(host({ endpoint: { address: '192.0.2.1', port: 6443 } }), ['192.0.2.1', '6443', 8]);
  assert.deepEqual(host({ endpoint: undefined }), [undefined, undefined, 0]);
});
