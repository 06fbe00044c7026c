import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { addressText } from '@podwright/system';
import { reservedCidrs } from '../services/external-addresses.ts';
import { type NodeFacts, nodeFacts } from '../services/node-facts.ts';
import type { EndpointSlice, ServiceObject } from '../services/objects.ts';
import { oversized } from './service-size.ts';
import { ServicesModel } from './services-model.ts';
import { mergeUdpChanges } from './udp-frontends.ts';

const create = (facts: Partial<NodeFacts> = {}) => {
  const node = { ...nodeFacts('here', undefined), nodePortAddresses: ['10.0.0.1'], ...facts };
  return new ServicesModel({ settings: { node, masqueradeAll: false }, logger: silentLogger });
};
const service = (name: string, spec: ServiceObject['spec'] = {}, labels = {}): ServiceObject => ({
  metadata: { namespace: 'default', name, labels, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }], ...spec },
});
const slice = (name: string, of: string, addresses: string[], protocol = 'TCP'): EndpointSlice => ({
  metadata: { namespace: 'default', name, labels: { 'kubernetes.io/service-name': of } },
  addressType: 'IPv4',
  endpoints: addresses.map((address) => ({ addresses: [address], nodeName: 'here' })),
  ports: [{ port: 8080, protocol }],
});
/** Returns the numbers of added and removed elements, by set. */
const counts = (model: ServicesModel): string => {
  model.refresh();
  const { elements } = model.ledger.takeChange();
  return elements.map(({ set, add, remove }) => `${set} +${add.length} -${remove.length}`).join(', ');
};

test('a changed endpoint changes one number and the chain, regardless of the order in which objects arrive', () => {
  const model = create();
  model.putSlice(slice('a', 'web', ['10.1.0.1', '10.1.0.2', '10.1.0.3']));
  assert.equal(counts(model), '');
  model.putService(service('web'));
  assert.equal(counts(model), 'cluster_ips4 +1 -0, services4 +1 -0, cluster4 +3 -0, hairpin4 +3 -0');
  model.putSlice(slice('a', 'web', ['10.1.0.9', '10.1.0.2', '10.1.0.3']));
  assert.equal(counts(model), 'cluster4 +1 -1, hairpin4 +1 -1');
  model.putSlice(slice('b', 'web', ['10.1.0.4']));
  assert.equal(counts(model), 'services4 +1 -1, cluster4 +1 -0, hairpin4 +1 -0');
  model.removeSlice(slice('a', 'web', []));
  assert.equal(counts(model), 'services4 +1 -1, cluster4 +1 -4, hairpin4 +0 -3');
  model.removeService(service('web'));
  assert.equal(counts(model), 'cluster_ips4 +0 -1, services4 +0 -1, cluster4 +0 -1, hairpin4 +0 -1');
});

test('a slice that moves to another service leaves the first one', () => {
  const model = create();
  model.putService(service('web'));
  model.putService(service('other', { clusterIP: '10.96.0.2' }));
  model.putSlice(slice('a', 'web', ['10.1.0.1']));
  counts(model);
  model.putSlice(slice('a', 'other', ['10.1.0.1']));
  assert.equal(counts(model), 'services4 +2 -2, cluster4 +1 -1');
});

test('objects labeled for another proxy are ignored, even if the label is added later', () => {
  const model = create();
  const label = { 'service.kubernetes.io/service-proxy-name': 'other' };
  model.putService(service('web', {}, label));
  assert.equal(counts(model), '');
  model.putService(service('web'));
  assert.equal(counts(model), 'cluster_ips4 +1 -0, services4 +1 -0');
  model.putService(service('web', {}, label));
  assert.equal(counts(model), 'cluster_ips4 +0 -1, services4 +0 -1');
});

test('a service whose rules cannot be computed has none, and others keep theirs', () => {
  const model = create();
  model.putService(service('good'));
  model.putService(service('bad', { clusterIP: '10.96.0.2', ports: [{ port: 70_000 }] }));
  assert.equal(counts(model), 'cluster_ips4 +1 -0, services4 +1 -0');
});

/** Returns the comments of the services map's elements, by the address in their key. */
const served = (model: ServicesModel) =>
  model.ledger
    .takeAll()
    .sets.find(({ name }) => name === 'services4')!
    .elements.map(({ key, comment }) => `${addressText(key.subarray(0, 4))} ${comment}`)
    .sort();

test('external addresses of the cluster or the node are not served, other external addresses are', () => {
  const interfaces = { eth0: [{ address: '192.0.2.1' }] };
  const reserved = { serviceCidrs: ['10.96.0.0/16'], podCidrs: ['10.1.0.0/16'], node: undefined, interfaces };
  const model = create({ reservedCidrs: reservedCidrs(reserved) });
  const taken = ['10.96.0.10', '192.0.2.1', '10.1.0.3', '127.0.0.1', '169.254.1.1', '224.0.0.1'];
  const ingress = [...taken, '203.0.113.8'].map((ip) => ({ ip }));
  const externalIPs = [...taken, '203.0.113.7'];
  model.putService({ ...service('eve', { externalIPs }), status: { loadBalancer: { ingress } } });
  model.refresh();
  const own = ['10.96.0.1', '203.0.113.7', '203.0.113.8'];
  assert.deepEqual(
    served(model),
    own.map((address) => `${address} default/eve:80`),
  );
});

test('a load balancer may have the primary address of the node, unlike an external address', () => {
  const interfaces = { eth0: [{ address: '192.0.2.1' }, { address: '192.0.2.2' }] };
  const reserved = { serviceCidrs: ['10.96.0.0/16'], podCidrs: [], node: undefined, interfaces };
  const model = create({ reservedCidrs: reservedCidrs(reserved), addresses: ['192.0.2.1'] });
  const ingress = [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }];
  model.putService({ ...service('lb'), status: { loadBalancer: { ingress } } });
  model.putService(service('eve', { clusterIP: '10.96.0.2', externalIPs: ['192.0.2.1'] }));
  model.refresh();
  assert.deepEqual(served(model), ['10.96.0.1 default/lb:80', '10.96.0.2 default/eve:80', '192.0.2.1 default/lb:80']);
});

test('a node address is served only for the ports listed in the load balancer status', () => {
  const interfaces = { eth0: [{ address: '192.0.2.1' }] };
  const reserved = { serviceCidrs: ['10.96.0.0/16'], podCidrs: [], node: undefined, interfaces };
  const model = create({ reservedCidrs: reservedCidrs(reserved), addresses: ['192.0.2.1'] });
  const status = (port: number) => ({
    loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: [{ port, protocol: 'TCP' }] }] },
  });
  model.putService({ ...service('lb'), status: status(80) });
  model.putService({ ...service('eve', { clusterIP: '10.96.0.2', ports: [{ port: 22 }] }), status: status(34567) });
  model.refresh();
  assert.deepEqual(served(model), ['10.96.0.1 default/lb:80', '10.96.0.2 default/eve:22', '192.0.2.1 default/lb:80']);
});

test('a service that requires too many rules soon has none, and others keep theirs', () => {
  const model = create();
  const ports = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: index + 1, protocol: 'TCP' }));
  const addresses = Array.from({ length: 300 }, (_, index) => `203.0.${index >> 8}.${index & 255}`);
  const endpoints = Array.from({ length: 10 }, (_, index) => `10.1.0.${index}`);
  const ofService = (name: string, count: number) => ({ ...slice(name, name, endpoints), ports: ports(count) });
  model.putService(service('large', { externalIPs: addresses, ports: ports(1000) }));
  model.putSlice(ofService('large', 1000));
  model.putService(service('ports', { ports: ports(20_000) }));
  model.putSlice(ofService('ports', 20_000));
  model.putService(service('sticky', { sessionAffinity: 'ClientIP', ports: ports(1000) }));
  model.putSlice(ofService('sticky', 1000));
  model.putService(service('web', { clusterIP: '10.96.0.2' }));
  const start = performance.now();
  model.refresh();
  assert.ok(performance.now() - start < 2000);
  assert.deepEqual(served(model), ['10.96.0.2 default/web:80']);
  model.putService(service('large', { clusterIP: '10.96.0.3', ports: ports(1) }));
  model.refresh();
  assert.deepEqual(served(model), ['10.96.0.2 default/web:80', '10.96.0.3 default/large:p0']);
});

test('if all services together require too many rules, the largest ones in the largest namespace have none', () => {
  const sizes = new Map(Array.from({ length: 10 }, (_, index) => [`eve/${index}`, 19_000 + index] as const));
  assert.deepEqual([...oversized(new Map([...sizes, ['bank/web', 15_000]]))], ['eve/9']);
  assert.deepEqual([...oversized(new Map([...sizes, ['bank/web', 20_001]]))], ['bank/web']);
  assert.equal(oversized(new Map([['bank/web', 20_000]])).size, 0);
});

test('a cluster IP belongs to its service, even if an older service has it as an external address', () => {
  const model = create();
  model.putService(service('a', { externalIPs: ['10.96.0.2', '203.0.113.7'] }));
  const younger = service('b', { clusterIP: '10.96.0.2', externalIPs: ['203.0.113.7'] });
  model.putService({ ...younger, metadata: { ...younger.metadata, creationTimestamp: '2026-02-01T00:00:00Z' } });
  model.refresh();
  assert.deepEqual(served(model), ['10.96.0.1 default/a:80', '10.96.0.2 default/b:80', '203.0.113.7 default/a:80']);
});

test('changes to UDP frontends list the serving endpoints before and after', () => {
  const model = create();
  const udp = { ports: [{ port: 53, protocol: 'UDP' }] };
  model.putService(service('dns', udp));
  model.putSlice(slice('a', 'dns', ['10.1.0.1'], 'UDP'));
  const first = model.refresh();
  const id = '4 10.96.0.1 53';
  assert.deepEqual([first.before.size, [...first.after.get(id)!.endpoints]], [0, ['10.1.0.1 8080']]);
  model.putSlice(slice('a', 'dns', ['10.1.0.2'], 'UDP'));
  const second = model.refresh();
  assert.deepEqual([...second.before.get(id)!.endpoints], ['10.1.0.1 8080']);
  model.removeService(service('dns', udp));
  mergeUdpChanges(second, model.refresh());
  assert.deepEqual([[...second.before.get(id)!.endpoints], second.after.size], [['10.1.0.1 8080'], 0]);
});

test('only a load balancer with policy Local has a health check, covering the ready local endpoints', () => {
  const model = create();
  const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 } as const;
  model.putService(service('web', spec));
  model.putService(service('other', { clusterIP: '10.96.0.2', type: 'NodePort' }));
  model.putSlice(slice('a', 'web', ['10.1.0.1', '10.1.0.2']));
  model.refresh();
  assert.deepEqual(model.healthChecks(), [{ namespace: 'default', name: 'web', port: 32000, localEndpoints: 2 }]);
});
