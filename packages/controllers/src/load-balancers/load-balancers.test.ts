import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NODES, PODS, SERVICES } from '@podwright/kube-client';
import type { Service } from '../objects/service.ts';
import { testPod } from '../pods/test-pod.fixture.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { nodeLoadBalancer } from './load-balancer-controller.ts';

type ServiceOptions = {
  port?: number;
  protocol?: string;
  ports?: object[];
  type?: string;
  loadBalancerClass?: string;
  at?: string;
  deletionTimestamp?: string;
};

class Place extends TestPlace {
  readonly listening = new Set<string>(['22/TCP']);
  /** How many times the controller has read the node's listening ports. */
  reads = 0;

  constructor() {
    const isListening = (port: number, protocol: string) => this.listening.has(`${port}/${protocol}`);
    const readListeners = () => {
      this.reads++;
      return isListening;
    };
    super(nodeLoadBalancer({ nodeName: 'n1', readListeners: () => readListeners() }));
    this.node('192.0.2.1');
  }

  node(address: string): void {
    const addresses = [
      { type: 'InternalIP', address },
      { type: 'InternalIP', address: '2001:db8::1' },
    ];
    this.client.put(NODES, { metadata: { name: 'n1' }, ...{ status: { addresses } } });
  }

  service(name: string, options: ServiceOptions = {}): void {
    const {
      port = 80,
      protocol = 'TCP',
      type = 'LoadBalancer',
      loadBalancerClass,
      at = '2026-01-01T00:00:00Z',
      deletionTimestamp,
      ports = [{ port, protocol }],
    } = options;
    const metadata = { namespace: 'shop', name, uid: `u-${name}`, creationTimestamp: at, deletionTimestamp };
    const spec = { type, ports, ipFamilies: ['IPv4'], loadBalancerClass };
    const { status } = this.stored(name) ?? {};
    this.client.put(SERVICES, { metadata, spec, status } as never);
  }

  stored = (name: string) => this.client.stored<Service>(SERVICES, { namespace: 'shop', name });
  addresses = (name: string) => this.stored(name)?.status?.loadBalancer?.ingress?.map(({ ip }) => ip);
  hasAddress = (name: string) => () => this.addresses(name)?.join() === '192.0.2.1';
}

test('a LoadBalancer Service has the node’s address, and follows its changes', async () => {
  await using place = new Place();
  place.service('web');
  await place.until(place.hasAddress('web'));
  place.node('192.0.2.9');
  await place.until(() => place.addresses('web')?.join() === '192.0.2.9');
  await place.until(() => place.events('EnsuredLoadBalancer').length > 0);
});

test('other types and classes have no address', async () => {
  await using place = new Place();
  place.service('inner', { type: 'ClusterIP' });
  place.service('cloud', { loadBalancerClass: 'example.com/lb' });
  place.service('web');
  await place.until(place.hasAddress('web'));
  assert.deepEqual([place.addresses('inner'), place.addresses('cloud')], [undefined, undefined]);
});

test('a port belongs to the oldest Service, and to the next one once that is removed', async () => {
  await using place = new Place();
  place.service('web');
  await place.until(place.hasAddress('web'));
  place.service('older', { at: '2025-01-01T00:00:00Z' });
  place.service('udp', { protocol: 'UDP' });
  await place.until(place.hasAddress('udp'));
  await place.until(() => place.events('SyncLoadBalancerFailed').length > 0);
  assert.equal(
    place.events('SyncLoadBalancerFailed')[0],
    'Error syncing load balancer: the port 80/TCP of the node is used by the Service shop/web',
  );
  assert.equal(place.addresses('older'), undefined);
  place.client.remove(SERVICES, { namespace: 'shop', name: 'web' });
  await place.until(place.hasAddress('older'));
});

test('ports used by the node’s programs and pods are not taken from them', async () => {
  await using place = new Place();
  const pod = testPod({ name: 'edge', node: 'n1' });
  pod.spec.containers[0]!.ports = [{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }];
  place.client.put(PODS, pod);
  place.service('ssh', { port: 22 });
  await place.until(() => place.events('SyncLoadBalancerFailed').length === 1);
  place.service('edge', { port: 8080 });
  await place.until(() => place.events('SyncLoadBalancerFailed').length === 2);
  assert.deepEqual(
    place.events('SyncLoadBalancerFailed').map((text) => text.replace(/.*port/, '')),
    [' 22/TCP of the node is used by a program of the node', ' 8080/TCP of the node is used by the pod shop/edge'],
  );
  assert.deepEqual([place.addresses('ssh'), place.addresses('edge')], [undefined, undefined]);
});

test('a Service being deleted loses its address, so it cannot take another node port', async () => {
  await using place = new Place();
  place.service('web', { port: 34567 });
  await place.until(place.hasAddress('web'));
  place.service('web', { port: 22, deletionTimestamp: '2026-01-02T00:00:00Z' });
  await place.until(() => place.addresses('web') === undefined);
});

test('a Service with a changed port does not take the port of a newer Service', async () => {
  await using place = new Place();
  place.service('old', { port: 81, at: '2025-01-01T00:00:00Z' });
  place.service('web');
  await place.until(() => place.hasAddress('old')() && place.hasAddress('web')());
  assert.deepEqual(place.stored('web')?.status?.loadBalancer?.ingress, [
    { ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] },
  ]);
  place.service('old', { at: '2025-01-01T00:00:00Z' });
  await place.until(() => place.addresses('old') === undefined);
  assert.ok(place.hasAddress('web')());
});

test('the listening ports are read once for all ports of a Service', async () => {
  await using place = new Place();
  const ports = Array.from({ length: 12_000 }, (_, index) => ({ port: 1000 + index, protocol: 'TCP' }));
  place.service('large', { ports });
  await place.until(place.hasAddress('large'));
  assert.ok(place.reads < 10, `${place.reads} times`);
});
