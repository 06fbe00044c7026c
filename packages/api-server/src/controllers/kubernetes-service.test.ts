import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsAt, valueAt } from '@podwright/kube-kinds';
import { type KubernetesService, keepKubernetesService } from './kubernetes-service.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const PATH = 'default/kubernetes';
const SLICES = 'endpointslices.discovery.k8s.io';

function start(test: TestCluster, endpoint: KubernetesService['endpoint']): void {
  test.start((parts) => keepKubernetesService({ ...parts, service: { clusterIp: '10.96.0.1', endpoint } }));
}

test('the Service and its endpoints are restored', async () => {
  await using test = new TestCluster();
  start(test, { address: '192.0.2.1', port: 6443 });
  await test.until(() => test.find('services', PATH) !== undefined && test.find(SLICES, PATH) !== undefined);
  assert.equal(valueAt(test.find('services', PATH), 'spec', 'clusterIP'), '10.96.0.1');
  assert.deepEqual(objectsAt(test.find(SLICES, PATH), 'endpoints')[0]?.addresses, ['192.0.2.1']);
  await test.delete('endpoints', PATH);
  await test.until(() => test.find('endpoints', PATH) !== undefined);
  await test.change('endpoints', PATH, (one) => ({ ...one, subsets: [] }));
  await test.until(() => objectsAt(test.find('endpoints', PATH), 'subsets').length === 1);
});

test('if the range changes, even to the other IP family, the Service and its slice are recreated', async () => {
  await using test = new TestCluster();
  const ports = [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }];
  await test.create('services', PATH, { spec: { clusterIP: '10.96.0.1', type: 'ClusterIP', ports } });
  const slice = {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.96.0.1'] }],
    ports: [{ name: 'https', port: 6443 }],
  };
  await test.create(SLICES, PATH, slice);
  const endpoint = { address: 'fd00:96::1', port: 6443 };
  test.start((parts) => keepKubernetesService({ ...parts, service: { clusterIp: 'fd00:96::1', endpoint } }));
  await test.until(() => valueAt(test.find('services', PATH), 'spec', 'clusterIP') === 'fd00:96::1');
  await test.until(() => valueAt(test.find(SLICES, PATH), 'addressType') === 'IPv6');
  assert.deepEqual(test.warnings, []);
});

test('a server unreachable from pods has no endpoints, not even from an earlier start', async () => {
  await using test = new TestCluster();
  const ports = [{ name: 'https', port: 6443, protocol: 'TCP' }];
  await test.create('endpoints', PATH, { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports }] });
  await test.create(SLICES, PATH, { addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.1'] }], ports });
  start(test, { address: undefined, port: 6443 });
  await test.until(() => test.find('endpoints', PATH) === undefined && test.find(SLICES, PATH) === undefined);
  assert.equal(valueAt(test.find('services', PATH), 'spec', 'ports', 0, 'targetPort'), 6443);
});
