import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import type { EndpointSlice } from '../objects/endpoint-slice.ts';
import { ENDPOINTS, type Endpoints } from '../objects/endpoints.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { endpointSliceController } from './endpoint-slice-controller.ts';
import { addressedPod, testNode, testService } from './endpoints.fixture.ts';
import { endpointsController } from './endpoints-controller.ts';
import { endpointMirroringController } from './mirroring-controller.ts';

class Place extends TestPlace {
  constructor() {
    super(endpointSliceController, endpointsController, endpointMirroringController);
    this.client.put(NODES, testNode('n1') as never);
  }

  async slices(): Promise<EndpointSlice[]> {
    return (await this.client.list<EndpointSlice>(ENDPOINT_SLICES, {})).items;
  }

  async addresses(): Promise<string> {
    const endpoints = (await this.slices()).flatMap((slice) => slice.endpoints ?? []);
    return endpoints
      .map(({ addresses, conditions }) => `${addresses} ${conditions?.ready}`)
      .sort()
      .join(', ');
  }

  get endpoints(): Endpoints | undefined {
    return this.client.stored<Endpoints>(ENDPOINTS, { namespace: 'shop', name: 'web' });
  }
}

test('slices and Endpoints follow pods and Services', async () => {
  await using place = new Place();
  place.client.put(SERVICES, testService({}, { labels: { team: 'a' } }));
  await place.until(async () => (await place.slices()).length === 1 && place.endpoints !== undefined);
  assert.deepEqual(place.endpoints!.metadata.labels, {
    team: 'a',
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
  });
  const time = 'endpoints.kubernetes.io/last-change-trigger-time';
  assert.deepEqual(place.endpoints!.metadata.annotations, { [time]: '2026-01-01T00:00:00Z' });
  place.client.put(PODS, addressedPod({ name: 'a', ips: ['10.1.0.1'] }));
  place.client.put(PODS, addressedPod({ name: 'b', ips: ['10.1.0.2'], isDeleting: true }));
  await place.until(async () => (await place.addresses()) === '10.1.0.1 true, 10.1.0.2 false');
  assert.equal((await place.slices()).length, 1);
  await place.until(() => place.endpoints?.subsets?.length === 1);
  assert.deepEqual(place.endpoints!.subsets, [
    {
      addresses: [
        { ip: '10.1.0.1', nodeName: 'n1', targetRef: { kind: 'Pod', namespace: 'shop', name: 'a', uid: 'uid-a' } },
      ],
      ports: [{ port: 8080, protocol: 'TCP' }],
    },
  ]);
  place.client.remove(PODS, { namespace: 'shop', name: 'a' });
  await place.until(
    async () => (await place.addresses()) === '10.1.0.2 false' && place.endpoints!.subsets!.length === 0,
  );
  place.client.remove(SERVICES, { namespace: 'shop', name: 'web' });
  await place.until(() => place.endpoints === undefined);
});

test('a failed update causes an event and is retried', async () => {
  await using place = new Place();
  place.client.script({ verb: 'create', plural: 'endpointslices' }, refusal(500, 'InternalError', 'no'));
  place.client.put(SERVICES, testService());
  await place.until(async () => (await place.slices()).length === 1);
  await place.until(() => place.events('FailedToUpdateEndpointSlices').length === 1);
});

test('Endpoints of a Service without a selector are mirrored until it gets one', async () => {
  await using place = new Place();
  const subsets = [
    { addresses: [{ ip: '10.2.0.1' }, { ip: 'not-an-address' }], ports: [{ port: 1, protocol: 'TCP' }] },
    { notReadyAddresses: [{ ip: 'fd00::1', hostname: 'h' }], ports: [{ port: 2, protocol: 'TCP' }] },
  ];
  const metadata = { namespace: 'shop', name: 'web', uid: 'e1', labels: { a: 'b' }, annotations: { note: 'x' } };
  place.client.put(ENDPOINTS, { metadata, subsets });
  place.client.put(SERVICES, testService({ selector: undefined }));
  await place.until(async () => (await place.slices()).length === 2);
  const found = (await place.slices()).sort((a, b) => (a.addressType < b.addressType ? -1 : 1));
  assert.deepEqual(
    found.map(({ addressType, ports, endpoints, metadata: { labels, annotations } }) => ({
      addressType,
      ports,
      endpoints,
      labels,
      annotations,
    })),
    [
      {
        addressType: 'IPv4',
        ports: [{ name: '', port: 1, protocol: 'TCP' }],
        endpoints: [{ addresses: ['10.2.0.1'], conditions: { ready: true } }],
      },
      {
        addressType: 'IPv6',
        ports: [{ name: '', port: 2, protocol: 'TCP' }],
        endpoints: [{ addresses: ['fd00::1'], conditions: { ready: false }, hostname: 'h' }],
      },
    ].map((one) => ({
      ...one,
      labels: {
        a: 'b',
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
      },
      annotations: { note: 'x' },
    })),
  );
  await place.until(() => place.events('InvalidIPAddress').length === 1);
  place.client.put(ENDPOINTS, { metadata, subsets: [subsets[0]!] });
  await place.until(async () => (await place.slices()).length === 1);
  place.client.put(SERVICES, testService({ selector: { app: 'none' } }));
  await place.until(async () => {
    const [only, ...others] = await place.slices();
    return (
      others.length === 0 &&
      only?.metadata.labels?.['endpointslice.kubernetes.io/managed-by'] === 'endpointslice-controller.k8s.io'
    );
  });
});

test('leader election Endpoints and those excluded from mirroring have no slices', async () => {
  await using place = new Place();
  const object = (name: string, metadata: object) =>
    place.client.put(ENDPOINTS, {
      metadata: { namespace: 'shop', name, ...metadata },
      subsets: [{ addresses: [{ ip: '10.2.0.1' }] }],
    });
  for (const name of ['leader', 'skipped', 'mirrored'])
    place.client.put(SERVICES, testService({ selector: undefined }, { name, uid: name }));
  object('leader', { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } });
  object('skipped', { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } });
  object('mirrored', {});
  await place.until(async () => (await place.slices()).length > 0);
  const names = (await place.slices()).map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name']);
  assert.deepEqual(names, ['mirrored']);
});

test('a Service that loses its selector keeps only the mirrored slices', async () => {
  await using place = new Place();
  const manager = 'endpointslice.kubernetes.io/managed-by';
  const managers = async () => (await place.slices()).map(({ metadata }) => metadata.labels?.[manager]);
  const mirrored = 'endpointslicemirroring-controller.k8s.io';
  place.client.put(SERVICES, testService());
  place.client.put(PODS, addressedPod({ name: 'a', ips: ['10.1.0.1'] }));
  await place.until(
    async () => (await place.addresses()) === '10.1.0.1 true' && place.endpoints?.subsets?.length === 1,
  );
  place.client.put(SERVICES, testService({ selector: undefined }));
  await place.until(async () => String(await managers()) === mirrored);
  assert.equal(await place.addresses(), '10.1.0.1 true');
  place.client.put(ENDPOINTS, { metadata: place.endpoints!.metadata, subsets: [{ addresses: [{ ip: '10.2.0.1' }] }] });
  await place.until(async () => (await place.addresses()) === '10.2.0.1 true');
});

test('client-written slices for a Service without a selector are preserved, even with the controller’s label', async () => {
  await using place = new Place();
  const labels = {
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  };
  const slice = { addressType: 'IPv4', endpoints: [{ addresses: ['10.3.0.1'] }], ports: [] };
  place.client.put(ENDPOINT_SLICES, { metadata: { namespace: 'shop', name: 'mine', uid: 's1', labels }, ...slice });
  place.client.put(ENDPOINTS, {
    metadata: { namespace: 'shop', name: 'web', uid: 'e1' },
    subsets: [{ addresses: [{ ip: '10.2.0.1' }] }],
  });
  place.client.put(SERVICES, testService({ selector: undefined }));
  await place.until(async () => (await place.addresses()) === '10.2.0.1 true, 10.3.0.1 undefined');
});
