import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSystemdCgroup, refuseSystemdCgroup } from './slice.ts';

test('names of systemd cgroups are read', () => {
  assert.deepEqual(parseSystemdCgroup('kubepods-besteffort-podX.slice:cri:abc'), {
    slice: 'kubepods-besteffort-podX.slice',
    prefix: 'cri',
    name: 'abc',
  });
  assert.equal(parseSystemdCgroup('/kubepods/podX/abc'), undefined);
  assert.equal(parseSystemdCgroup('/a.slice:b:c'), undefined);
});

test('cgroups that only systemd may make are refused with what to do', () => {
  assert.throws(() => refuseSystemdCgroup('kubepods.slice:cri:x'), /cgroupfs/);
  assert.throws(() => refuseSystemdCgroup('/kubepods.slice/kubepods-podX.slice'), /cgroupfs/);
  refuseSystemdCgroup('/kubepods/podX');
});
