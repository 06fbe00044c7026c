import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, VolumeMount } from '@podwright/kube-api';
import { wantedMounts } from './container-mounts.ts';

function wanted(...volumeMounts: VolumeMount[]) {
  return wantedOn(false, ...volumeMounts);
}

/** Resolves a container's mounts on a container runtime that does or does not support recursive read-only mounts. */
function wantedOn(recursiveReadOnly: boolean, ...volumeMounts: VolumeMount[]) {
  const container = { name: 'a', image: 'b', volumeMounts };
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'conf', configMap: { name: 'c' } },
    { name: 'host', hostPath: { path: '/h' } },
    { name: 'model', image: { reference: 'm:1' } },
  ];
  const pod = { spec: { containers: [container], volumes } } as unknown as Pod;
  const environment = [
    { name: 'POD', value: 'web' },
    { name: 'UP', value: '../..' },
    { name: 'EMPTY', value: '' },
  ];
  return wantedMounts({ pod, container, environment, recursiveReadOnly });
}

test('a mount is writable and private by default', () => {
  assert.deepEqual(wanted({ name: 'data', mountPath: 'data/' }), [
    {
      name: 'data',
      containerPath: '/data',
      readonly: false,
      recursiveReadOnly: false,
      propagation: 'None',
      relabel: true,
      subPath: '',
      index: 0,
    },
  ]);
});

test('volumes written by the node are read-only, and so are images', () => {
  assert.equal(wanted({ name: 'conf', mountPath: '/c' })[0]?.readonly, true);
  assert.equal(wanted({ name: 'model', mountPath: '/c' })[0]?.readonly, true);
});

test('volumes created by the kubelet get the container’s SELinux label, but host paths and images do not', () => {
  const labels = ['data', 'conf', 'host', 'model'].map((name) => wanted({ name, mountPath: '/c' })[0]?.relabel);
  assert.deepEqual(labels, [true, true, false, false]);
});

test('a recursive read-only mount requires runtime support: IfPossible falls back, Enabled is rejected', () => {
  const mount = (recursiveReadOnly: VolumeMount['recursiveReadOnly']): VolumeMount => ({
    ...{ name: 'data', mountPath: '/d', readOnly: true },
    recursiveReadOnly,
  });
  const check = (supported: boolean, mode: VolumeMount['recursiveReadOnly'], expected: boolean) =>
    assert.equal(wantedOn(supported, mount(mode))[0]?.recursiveReadOnly, expected);
  check(true, 'Enabled', true);
  check(true, 'IfPossible', true);
  check(true, 'Disabled', false);
  check(true, undefined, false);
  check(false, 'IfPossible', false);
  check(false, 'Disabled', false);
  assert.throws(() => wantedOn(false, mount('Enabled')), {
    message:
      'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but it is not supported by the runtime',
  });
});

test('a subPathExpr is expanded with the container’s environment', () => {
  assert.equal(wanted({ name: 'data', mountPath: '/d', subPathExpr: 'logs/$(POD)' })[0]?.subPath, 'logs/web');
  assert.throws(() => wanted({ name: 'data', mountPath: '/d', subPathExpr: '$(NONE)' }), {
    code: 'failed_precondition',
    message: /^missing value for NONE$/,
  });
  assert.throws(() => wanted({ name: 'data', mountPath: '/d', subPathExpr: '$(NONE)$(EMPTY)$(NONE)' }), {
    message: /^missing value for EMPTY, NONE$/,
  });
  assert.throws(() => wanted({ name: 'data', mountPath: '/d', subPathExpr: 'x/$(UP)/y' }), /must not contain '..'/);
});
