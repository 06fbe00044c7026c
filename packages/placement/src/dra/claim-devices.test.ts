import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '@podwright/kube-api';
import { cdiDevices, claimHealth, claimsOfContainer } from './claim-devices.ts';
import type { ClaimRecord } from './claim-records.ts';

const device = (name: string, requests: string[] | null) => ({
  ...{ PoolName: 'pool', DeviceName: name, ShareID: null, RequestNames: requests },
  CDIDeviceIDs: name === 'bare' ? null : [`t.com/gpu=${name}`],
});

const record = (name: string, devices: ReturnType<typeof device>[]): ClaimRecord => ({
  ...{ ClaimUID: `uid-${name}`, ClaimName: name, Namespace: 'default', PodUIDs: { 1: {} } },
  DriverState: { 'gpu.test': { Devices: devices } },
});

const RECORDS = new Map(
  [
    record('made', [device('a', ['big']), device('b', ['small']), device('bare', [])]),
    record('extended', [device('x', ['container-0-request-0']), device('y', ['container-1-request-0'])]),
  ].map((one) => [one.ClaimName, one]),
);
const prepared = (name: string) => RECORDS.get(name);

const POD = {
  metadata: { uid: '1', name: 'pod', namespace: 'default' },
  spec: {
    resourceClaims: [
      { name: 'gpu', resourceClaimTemplateName: 'template' },
      { name: 'none', resourceClaimTemplateName: 'optional' },
      { name: 'lost', resourceClaimName: 'lost' },
    ],
  },
  status: {
    resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'made' }, { name: 'none' }],
    extendedResourceClaimStatus: {
      resourceClaimName: 'extended',
      requestMappings: [
        { containerName: 'c0', resourceName: 't.com/gpu', requestName: 'container-0-request-0' },
        { containerName: 'c1', resourceName: 't.com/gpu', requestName: 'container-1-request-0' },
      ],
    },
  },
} as unknown as Pod;

const container = (name: string, claims: object[], requests = {}) =>
  ({ name, resources: { claims, requests } }) as unknown as Container;

test('a container gets the devices of the requests it names', () => {
  const check = (expected: string[], one: Container) =>
    assert.deepEqual(
      cdiDevices(POD, one, prepared).map((name) => name.split('=')[1]),
      expected,
    );
  check(['a'], container('main', [{ name: 'gpu', request: 'big' }]));
  check(['a', 'b'], container('main', [{ name: 'gpu' }]));
  check([], container('main', []));
  check([], container('main', [{ name: 'none' }]));
  check(['y'], container('c1', [], { 't.com/gpu': '1' }));
  check([], container('c1', [], { 't.com/gpu': '0' }));
  check(['b', 'x'], container('c0', [{ name: 'gpu', request: 'small' }], { 't.com/gpu': '1' }));
});

test('an unprepared claim is an error that includes its name', () => {
  assert.throws(() => cdiDevices(POD, container('main', [{ name: 'lost' }]), prepared), {
    message: 'internal error: unable to get claim info for ResourceClaim lost in namespace default',
  });
});

test('claims and device health of a container are listed', () => {
  const one = container('c0', [{ name: 'gpu', request: 'big/first' }, { name: 'gpu' }], { 't.com/gpu': '1' });
  assert.deepEqual(
    claimsOfContainer(POD, one, prepared).map(({ ClaimName }) => ClaimName),
    ['made', 'extended'],
  );
  const healthOf = (driver: string, { pool, device: name }: { pool: string; device: string }) =>
    name === 'a' ? { health: 'Unhealthy' as const, message: `${driver}/${pool}` } : { health: 'Unknown' as const };
  const a = { resourceID: 't.com/gpu=a', health: 'Unhealthy', message: 'gpu.test/pool' };
  const b = { resourceID: 't.com/gpu=b', health: 'Unknown' };
  const bare = { resourceID: 'gpu.test/pool/bare', health: 'Unknown' };
  assert.deepEqual(claimHealth(POD, one, { prepared, healthOf }), [
    { name: 'claim:gpu/big/first', resources: [a, bare] },
    { name: 'claim:gpu', resources: [a, b, bare] },
  ]);
});
