import { test } from 'node:test';
import { ago, checkRow } from './row-checks.fixture.ts';

test('claims show as pending, allocated, reserved or deleted', () => {
  const check = (status: object, deleted: boolean, State: string) =>
    checkRow(
      'ResourceClaim.resource.k8s.io',
      { metadata: deleted ? { deletionTimestamp: ago(1) } : {}, status },
      { State },
    );
  check({}, false, 'pending');
  check({}, true, 'deleted');
  check({ allocation: {} }, false, 'allocated');
  check({ allocation: {}, reservedFor: [{}] }, false, 'allocated,reserved');
  check({ allocation: {}, reservedFor: [{}] }, true, 'deleted,allocated,reserved');
  check({ reservedFor: [{}] }, false, 'pending');
});

test('slices and taint rules show their main fields', () => {
  const spec = { nodeName: 'n', driver: 'd', pool: { name: 'p' } };
  checkRow('ResourceSlice.resource.k8s.io', { spec }, { Node: 'n', Driver: 'd', Pool: 'p' });
  checkRow('ResourceSlice.resource.k8s.io', { spec: { ...spec, nodeName: undefined } }, { Node: '' });
  const taint = { key: 'k', value: 'v', effect: 'NoExecute', timeAdded: ago(60) };
  checkRow(
    'DeviceTaintRule.resource.k8s.io',
    { spec: { taint } },
    { Key: 'k', Value: 'v', Effect: 'NoExecute', TimeAdded: '60s' },
  );
  checkRow('DeviceTaintRule.resource.k8s.io', { spec: { taint: {} } }, { TimeAdded: '' });
});

test('pool status requests show device totals', () => {
  const check = (status: object | undefined, devices: string[], rest: [number, string, string]) => {
    const [Total, Available, Allocated, Unavailable, Errors] = devices as [string, string, string, string, string];
    const [Pools, Status, Completed] = rest;
    checkRow(
      'ResourcePoolStatusRequest.resource.k8s.io',
      { spec: {}, status },
      { Total, Available, Allocated, Unavailable, Errors, Pools, Status, Completed },
    );
  };
  const unknown = ['-', '-', '-', '-', '-'];
  check(undefined, unknown, [0, 'Pending', '<none>']);
  check({ conditions: [{ type: 'Failed', status: 'True' }] }, unknown, [0, 'Failed', '<none>']);
  check({ conditions: [{ type: 'Complete', status: 'False' }] }, ['0', '0', '0', '0', '0'], [0, 'Pending', '<none>']);
  const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: ago(300) }];
  const pools = [
    { totalDevices: 4, availableDevices: 1, allocatedDevices: 2, unavailableDevices: 1 },
    { totalDevices: 8, validationError: 'e' },
  ];
  check({ conditions, pools, poolCount: 2 }, ['12', '1', '2', '1', '1'], [2, 'Complete', '5m']);
  check({ conditions, pools, poolCount: 5 }, ['12', '1', '2', '1', '1'], [5, 'Complete (2/5 pools)', '5m']);
});
