import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, VolumeMount } from '../api/types.ts';
import { wantedMounts } from './container-mounts.ts';

function wanted(...volumeMounts: VolumeMount[]) {
  const container = { name: 'a', image: 'b', volumeMounts };
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'conf', configMap: { name: 'c' } },
  ];
  const pod = { spec: { containers: [container], volumes } } as unknown as Pod;
  const environment = [
    { name: 'POD', value: 'web' },
    { name: 'UP', value: '../..' },
  ];
  return wantedMounts(pod, container, environment);
}

test('a mount is writable and private unless it says otherwise', () => {
  assert.deepEqual(wanted({ name: 'data', mountPath: 'data/' }), [
    {
      name: 'data',
      containerPath: '/data',
      readonly: false,
      recursiveReadOnly: false,
      propagation: 'None',
      subPath: '',
      index: 0,
    },
  ]);
});

test('volumes that the node writes are read-only', () => {
  assert.equal(wanted({ name: 'conf', mountPath: '/c' })[0]?.readonly, true);
});

test('a subPathExpr is expanded with the environment of the container', () => {
  assert.equal(wanted({ name: 'data', mountPath: '/d', subPathExpr: 'logs/$(POD)' })[0]?.subPath, 'logs/web');
  assert.throws(() => wanted({ name: 'data', mountPath: '/d', subPathExpr: '$(NONE)' }), {
    code: 'failed_precondition',
    message: /no variable NONE/,
  });
  assert.throws(() => wanted({ name: 'data', mountPath: '/d', subPathExpr: 'x/$(UP)/y' }), /leads out of the volume/);
});
