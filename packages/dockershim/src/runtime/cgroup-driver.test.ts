import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupDriverOf } from './cgroup-driver.ts';

test('the cgroup driver is the Engine’s, and requesting another one is rejected', () => {
  assert.equal(cgroupDriverOf({ CgroupDriver: '' }), 'cgroupfs');
  assert.equal(cgroupDriverOf({ CgroupDriver: 'systemd' }, 'systemd'), 'systemd');
  const refused = (actual: string, wanted: 'cgroupfs' | 'systemd' | undefined, message: RegExp) =>
    assert.throws(() => cgroupDriverOf({ CgroupDriver: actual }, wanted), { code: 'failed_precondition', message });
  refused(
    '',
    'systemd',
    /Docker Engine's is "cgroupfs"; leave cgroup_driver out, or set .*native\.cgroupdriver=systemd/,
  );
  refused('none', undefined, /cgroup driver "none"/);
});
