import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseCgroupDriver } from './cgroup-place.ts';

type Requested = Parameters<typeof chooseCgroupDriver>[0];
type Host = Parameters<typeof chooseCgroupDriver>[1];

const SYSTEMD: Host = { systemd: true, mode: 'v2' };
const HYBRID: Host = { systemd: true, mode: 'hybrid' };
const NO_SYSTEMD: Host = { systemd: false, mode: 'v2' };

test('the cgroup driver is systemd if it works, unless cgroupfs is configured', () => {
  const check = (requested: Requested, host: Host, expected: string) =>
    assert.equal(chooseCgroupDriver(requested, host).driver, expected, `${requested} on ${JSON.stringify(host)}`);
  check('auto', SYSTEMD, 'systemd');
  check('auto', HYBRID, 'cgroupfs');
  check('auto', { systemd: true, mode: 'v1' }, 'cgroupfs');
  check('auto', NO_SYSTEMD, 'cgroupfs');
  check('cgroupfs', SYSTEMD, 'cgroupfs');
  check('systemd', SYSTEMD, 'systemd');
});

test('a configured driver that cannot work is refused with the reason and a fix', () => {
  const check = (host: Host, message: RegExp) =>
    assert.throws(() => chooseCgroupDriver('systemd', host), { code: 'failed_precondition', message });
  check(NO_SYSTEMD, /cgroup_driver = "systemd": systemd is not the init process here; set it to "auto" or "cgroupfs"/);
  check(HYBRID, /boot it with cgroup v2 only; set it to/);
});
