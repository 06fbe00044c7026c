import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { Endpoint, EndpointSlice } from '../objects/endpoint-slice.ts';
import type { Service } from '../objects/service.ts';
import { decideSlices } from './decide-slices.ts';
import { addressedPod, storedSlice, testNode, testService } from './endpoints.fixture.ts';

const decide = (service: Service, pods: readonly Pod[], slices: readonly EndpointSlice[] = []) =>
  decideSlices({ service, pods, slices, nodeOf: (name) => (name === 'n1' ? testNode('n1', 'z1') : undefined) });

/** Decides the slices of a Service, and returns them with the changes applied. */
function applied(service: Service, pods: readonly Pod[], slices: readonly EndpointSlice[] = []): EndpointSlice[] {
  const { create, update, delete: deleted } = decide(service, pods, slices);
  const gone = new Set([...deleted, ...update].map(({ metadata }) => metadata.name));
  const kept = slices.filter(({ metadata }) => !gone.has(metadata.name));
  const created = create.map((one, index) => storedSlice(one, `s${slices.length + index}`));
  return [...kept, ...update, ...created];
}

const podsOf = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) =>
    addressedPod({
      name: `p${first + index}`,
      ips: [`10.1.${Math.floor((first + index) / 250)}.${(first + index) % 250}`],
    }),
  );
const short = ({ create, update, delete: deleted }: ReturnType<typeof decide>) =>
  `create ${create.length}, update ${update.length}, delete ${deleted.length}`;
const sizes = (slices: readonly EndpointSlice[]) => slices.map(({ endpoints }) => endpoints?.length).sort();

/** Returns the endpoint of a Service that has only this pod. */
function endpointOf(pod: Pod, spec: Partial<Service['spec']> = {}): Endpoint | undefined {
  return decide(testService(spec), [pod]).create[0]?.endpoints[0];
}

test('a slice has the Service’s labels, owner, ports and endpoints', () => {
  const service = testService({}, { labels: { team: 'a', 'kubernetes.io/service-name': 'other' } });
  const { create } = decide(service, podsOf(1));
  assert.deepEqual(create, [
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: 'web-',
        namespace: 'shop',
        labels: {
          team: 'a',
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'u1', controller: true, blockOwnerDeletion: true },
        ],
      },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: [
        {
          addresses: ['10.1.0.0'],
          conditions: { ready: true, serving: true, terminating: false },
          targetRef: { kind: 'Pod', namespace: 'shop', name: 'p0', uid: 'uid-p0' },
          nodeName: 'n1',
          zone: 'z1',
        },
      ],
    },
  ]);
});

function checkConditions(title: string, pod: Pod, expected: string, spec: Partial<Service['spec']> = {}) {
  test(`${title}: ${expected}`, () => {
    const { conditions = {} } = endpointOf(pod, spec) ?? {};
    const set = Object.entries(conditions).flatMap(([name, value]) => (value ? [name] : []));
    assert.equal(endpointOf(pod, spec) === undefined ? 'none' : set.join(', '), expected);
  });
}

const unready = addressedPod({ readySinceMs: undefined });
checkConditions('a ready pod', addressedPod({}), 'ready, serving');
checkConditions('a pod that is not ready', { ...unready, status: { ...unready.status!, conditions: [] } }, '');
checkConditions('a pod that is being deleted', addressedPod({ isDeleting: true }), 'serving, terminating');
checkConditions(
  'the same if unready addresses are published',
  addressedPod({ isDeleting: true }),
  'ready, serving, terminating',
  { publishNotReadyAddresses: true },
);
checkConditions('a pod that has ended', addressedPod({ phase: 'Failed' }), 'none');
checkConditions('a pod without an address', addressedPod({ ips: [] }), 'none');
checkConditions('a pod without an address of the family', addressedPod({ ips: ['fd00::1'] }), 'none');

test('a pod on an unknown node is skipped unless not-ready addresses are published', () => {
  const pod = addressedPod({ node: 'lost' });
  assert.deepEqual([decide(testService(), [pod]).skipped, endpointOf(pod)], [[pod], undefined]);
  assert.equal(endpointOf(pod, { publishNotReadyAddresses: true })?.nodeName, 'lost');
});

test('the hostname is set for pods with the Service’s subdomain', () => {
  const pod = (subdomain: string) => addressedPod({ spec: { hostname: 'h1', subdomain } });
  assert.deepEqual([endpointOf(pod('web'))?.hostname, endpointOf(pod('db'))?.hostname], ['h1', undefined]);
});

test('hints follow trafficDistribution', () => {
  const hints = (trafficDistribution: string) => endpointOf(addressedPod({}), { trafficDistribution })?.hints;
  const forZones = [{ name: 'z1' }];
  assert.deepEqual(hints('PreferSameZone'), { forZones });
  assert.deepEqual(hints('PreferSameNode'), { forZones, forNodes: [{ name: 'n1' }] });
  assert.equal(hints('Other'), undefined);
});

test('named ports are resolved per pod, so pods with different numbers are in separate slices', () => {
  const ports = [{ port: 80, targetPort: 'http', name: 'web', protocol: 'TCP', appProtocol: 'http' }];
  const pod = (name: string, containerPort: number) =>
    addressedPod({ name, spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort }] }] } });
  const { create } = decide(testService({ ports }), [pod('a', 1), pod('b', 2), addressedPod({ name: 'without' })]);
  const found = create.map((one) => one.ports);
  const named = (port: number) => [{ name: 'web', port, protocol: 'TCP', appProtocol: 'http' }];
  assert.deepEqual(found, [named(1), named(2), []]);
});

test('a dual-stack Service has slices for both IP families', () => {
  const { create } = decide(testService({ ipFamilies: ['IPv6', 'IPv4'] }), [
    addressedPod({ ips: ['10.1.0.1', 'fd00::1'] }),
  ]);
  const found = create.map(({ addressType, endpoints }) => [addressType, endpoints[0]?.addresses]);
  assert.deepEqual(found, [
    ['IPv6', ['fd00::1']],
    ['IPv4', ['10.1.0.1']],
  ]);
});

test('slices are deleted for an IP family the Service no longer has', () => {
  const service = testService({ ipFamilies: ['IPv4', 'IPv6'] });
  const slices = applied(service, [addressedPod({ ips: ['10.1.0.1', 'fd00::1'] })]);
  assert.equal(
    short(decide(testService(), [addressedPod({ ips: ['10.1.0.1', 'fd00::1'] })], slices)),
    'create 0, update 0, delete 1',
  );
});

test('a Service without endpoints has one empty slice, filled by its first endpoint', () => {
  const service = testService({ clusterIP: 'None' });
  const empty = applied(service, []);
  assert.deepEqual(
    [sizes(empty), empty[0]!.ports, empty[0]!.metadata.labels?.['service.kubernetes.io/headless']],
    [[0], [], ''],
  );
  assert.equal(short(decide(service, [], empty)), 'create 0, update 0, delete 0');
  assert.equal(
    short(decide(service, [], [{ ...empty[0]!, endpoints: null, ports: null }])),
    'create 0, update 0, delete 0',
  );
  const { update } = decide(service, podsOf(1), empty);
  assert.deepEqual([update[0]?.metadata.name, update[0]?.endpoints?.length, update[0]?.ports?.length], ['s0', 1, 1]);
  const full = applied(service, podsOf(1), empty);
  assert.equal(short(decide(service, [], full)), 'create 0, update 1, delete 0');
});

test('slices have at most 100 endpoints, and endpoints are not moved between slices', () => {
  const service = testService();
  const slices = applied(service, podsOf(250));
  assert.deepEqual(sizes(slices), [100, 100, 50]);
  assert.equal(short(decide(service, podsOf(250), slices)), 'create 0, update 0, delete 0');
  const more = decide(service, podsOf(270), slices);
  assert.equal(short(more), 'create 0, update 1, delete 0');
  const fewer = decide(service, podsOf(240), slices);
  assert.deepEqual([short(fewer), fewer.update[0]?.endpoints?.length], ['create 0, update 1, delete 0', 40]);
  assert.equal(short(decide(service, podsOf(200), slices)), 'create 0, update 0, delete 1');
});

test('already changed slices are filled before others', () => {
  const service = testService();
  const slices = applied(service, podsOf(200));
  const changed = decide(service, [...podsOf(190, 10), ...podsOf(15, 500)], slices);
  assert.equal(short(changed), 'create 1, update 1, delete 0');
  assert.deepEqual(changed.create[0]?.endpoints.length, 5);
});

test('changed Service labels are written, and a slice of a former Service of that name is replaced', () => {
  const slices = applied(testService(), podsOf(1));
  const labeled = testService({}, { labels: { team: 'a' } });
  assert.equal(decide(labeled, podsOf(1), slices).update[0]?.metadata.labels?.team, 'a');
  const successor = testService({}, { uid: 'u2' });
  assert.equal(short(decide(successor, podsOf(1), slices)), 'create 1, update 0, delete 1');
});

test('a new resource version in a pod’s reference is not a change', () => {
  const service = testService();
  const [slice] = applied(service, podsOf(1));
  const [endpoint] = slice!.endpoints!;
  const referred = { ...endpoint!, targetRef: { ...endpoint!.targetRef, resourceVersion: '5' } };
  assert.equal(
    short(decide(service, podsOf(1), [{ ...slice!, endpoints: [referred] }])),
    'create 0, update 0, delete 0',
  );
});

test('many ports and pods are processed without time proportional to their product', () => {
  const ports = Array.from({ length: 20_000 }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
  const service = testService({ ports });
  const pods = podsOf(100);
  const start = performance.now();
  const { create } = decide(service, pods);
  assert.equal(decide(service, pods, [storedSlice(create[0]!, 's1')]).update.length, 0);
  assert.ok(performance.now() - start < 1000);
  assert.deepEqual([create.length, create[0]!.ports?.length, create[0]!.endpoints.length], [1, 20_000, 100]);
});
