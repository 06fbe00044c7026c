import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { resolveDevices } from './resolve-devices.ts';

test('a device is looked up at hostPath and created at containerPath, by default the same path', async () => {
  const [device] = await resolveDevices({ hostPath: '/dev/null', containerPath: '/dev/nothing', permissions: 'r' });
  const { path, type, major, minor, access } = device!;
  assert.deepEqual(
    { path, type, major, minor, access },
    { path: '/dev/nothing', type: 'c', major: 1, minor: 3, access: 'r' },
  );
  assert.equal(device?.hostPath, '/dev/null');
  const [all] = await resolveDevices({ hostPath: '/dev/null', containerPath: '', permissions: '' });
  assert.deepEqual([all?.path, all?.access], ['/dev/null', 'rwm']);
});

test('non-device paths and invalid permissions are rejected', async () => {
  const fails = (hostPath: string, permissions: string) =>
    assert.rejects(
      resolveDevices({ hostPath, containerPath: '', permissions }),
      (error) => errorCode(error) === 'invalid_argument',
    );
  await fails('/etc/passwd', 'r');
  await fails('/no/such', 'r');
  await fails('/dev/null', 'x');
});
