import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { MemoryStore } from '../../../api-machinery/src/store/memory-store.ts';
import { AddressRange } from './address-range.ts';
import { ServiceAllocator } from './service-allocator.ts';

const RANGE = new AddressRange('10.0.0.0/28');

type Spec = { clusterIP?: string; clusterIPs?: string[]; ports?: object[]; [field: string]: unknown };

const service = (name: string, spec: Spec): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'x', uid: name },
  spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
});

const named = (ip: string): Spec => ({ clusterIP: ip, clusterIPs: [ip] });

const specOf = ({ spec }: ApiObject) =>
  spec as { clusterIP: string; ports: { nodePort: number }[]; healthCheckNodePort?: number };

function setUp(ranges: readonly [AddressRange, ...AddressRange[]] = [RANGE]) {
  const store = new MemoryStore();
  const allocator = new ServiceAllocator(store, ranges);
  /** Allocates addresses and ports as for the creation of a service, and stores the service if there are no errors. */
  const create = (name: string, spec: Spec) => {
    const { object, errors, end } = allocator.allocate(service(name, spec), undefined);
    if (errors.length === 0) store.create({ resource: 'services', namespace: 'x', name }, object);
    end();
    return { object, messages: errors.map(({ message }) => message.replace(/^Invalid value: .*?(?<=[\]\d]): /, '')) };
  };
  return { store, allocator, create };
}

test('a range excludes its first and last address', () => {
  assert.equal(RANGE.first, '10.0.0.1');
  const inside = ['10.0.0.0', '10.0.0.1', '10.0.0.14', '10.0.0.15', '10.0.0.16', '::1'].map((ip) => RANGE.includes(ip));
  assert.deepEqual(inside, [false, true, true, false, false, false]);
  for (const cidr of ['10.0.0.0', '10.0.0.0/30', 'fd00::/64', 'fd00::/126', '10.0.0.300/16'])
    assert.throws(() => new AddressRange(cidr));
});

test('each service gets its own address until the range is full', () => {
  const { create } = setUp();
  const ips = Array.from({ length: 14 }, (_, index) => specOf(create(`s${index}`, {}).object).clusterIP);
  assert.equal(new Set(ips).size, 14);
  assert.ok(ips.every((ip) => RANGE.includes(ip)));
  assert.throws(() => create('more', {}), /failed to allocate a serviceIP: range is full/);
});

test('with a range per family, a service has an address for each of its families', () => {
  const { create } = setUp(AddressRange.list('10.0.0.0/28,fd00:96::/120'));
  const ips = (name: string, spec: Spec) => (create(name, spec).object.spec as { clusterIPs: string[] }).clusterIPs;
  const dual = ips('dual', { ipFamilyPolicy: 'PreferDualStack' });
  assert.equal(dual.length, 2);
  assert.match(dual.join(), /^10\.0\.0\.\d+,fd00:96::[0-9a-f]{1,2}$/);
  assert.match(ips('six', { ipFamilies: ['IPv6'] }).join(), /^fd00:96::[0-9a-f]{1,2}$/);
  assert.equal(ips('one', {}).length, 1);
  const both = { clusterIP: 'fd00:96::5', clusterIPs: ['fd00:96::5', '10.0.0.5'], ipFamilyPolicy: 'RequireDualStack' };
  assert.deepEqual(ips('named', both), both.clusterIPs);
  const [outside] = create('outside', { ...named('fd00:97::5'), ipFamilies: ['IPv6'] }).messages;
  assert.match(outside!, /The range of valid IPs is fd00:96::\/120$/);
  for (const wrong of ['10.0.0.0/28,10.1.0.0/28', '10.0.0.0/28,fd00::/120,fd01::/120'])
    assert.throws(() => AddressRange.list(wrong), /one of each IP family/);
});

test('requested addresses must be in the range and free', () => {
  const { create } = setUp();
  assert.deepEqual(create('a', named('10.0.0.5')).messages, []);
  assert.deepEqual(create('b', named('10.0.0.5')).messages, [
    'failed to allocate IP 10.0.0.5: provided IP is already allocated',
  ]);
  const [outside] = create('c', named('10.0.1.5')).messages;
  assert.match(
    outside!,
    /the provided IP \(10\.0\.1\.5\) is not in the valid range\. The range of valid IPs is 10\.0\.0\.0\/28$/,
  );
  assert.deepEqual(create('d', named('None')).messages, []);
});

test('an address is reserved during the write of its service, and freed if the write fails', () => {
  const { allocator } = setUp();
  const first = allocator.allocate(service('a', named('10.0.0.5')), undefined);
  assert.equal(allocator.allocate(service('b', named('10.0.0.5')), undefined).errors.length, 1);
  first.end();
  assert.equal(allocator.allocate(service('b', named('10.0.0.5')), undefined).errors.length, 0);
});

test('node ports can be shared only by different protocols', () => {
  const { create } = setUp();
  const ports = [
    { name: 'a', port: 53, protocol: 'TCP' },
    { name: 'b', port: 53, protocol: 'UDP' },
    { name: 'c', port: 80, protocol: 'TCP' },
  ];
  const [a, b, c] = specOf(create('dns', { type: 'NodePort', ports }).object).ports.map(({ nodePort }) => nodePort);
  assert.ok(a! >= 30_086 && a === b && a !== c);
  const taken = [{ port: 1, protocol: 'TCP', nodePort: a }];
  assert.deepEqual(create('x', { type: 'NodePort', ports: taken }).messages, ['provided port is already allocated']);
  const low = [{ port: 1, protocol: 'TCP', nodePort: 80 }];
  assert.deepEqual(create('x', { type: 'NodePort', ports: low }).messages, [
    'provided port is not in the valid range. The range of valid ports is 30000-32767',
  ]);
});

test('a load balancer with the local policy gets a health check port, and an update retains its values', () => {
  const { create, store, allocator } = setUp();
  const { object } = create('lb', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  assert.ok(specOf(object).healthCheckNodePort! >= 30_000);
  const old = store.get({ resource: 'services', namespace: 'x', name: 'lb' })!.decode();
  const updated = allocator.allocate(old, old);
  assert.deepEqual(updated.errors, []);
  assert.deepEqual(specOf(updated.object), specOf(old));
});

test('an allocation decodes only services changed since the last one', () => {
  const { store, create } = setUp();
  const decoded: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    create(name, {});
    const stored = store.get({ resource: 'services', namespace: 'x', name })!;
    const decode = stored.decode.bind(stored);
    stored.decode = () => {
      decoded.push(name);
      return decode();
    };
  }
  assert.deepEqual(decoded, ['a', 'b']);
  create('d', {});
  assert.deepEqual(decoded, ['a', 'b', 'c']);
});
