import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '../errors.ts';
import { parseSystemdCgroup, pathOfSlice, refuseSystemdCgroup } from './slice.ts';

test('names of systemd cgroups are read', () => {
  assert.deepEqual(parseSystemdCgroup('kubepods-besteffort-podX.slice:cri:abc'), {
    slice: 'kubepods-besteffort-podX.slice',
    prefix: 'cri',
    name: 'abc',
  });
  assert.equal(parseSystemdCgroup('/kubepods/podX/abc'), undefined);
  assert.equal(parseSystemdCgroup('/a.slice:b:c'), undefined);
});

test('a slice lies within the slices that its name begins with', () => {
  assert.equal(pathOfSlice('kubepods-burstable.slice'), '/kubepods.slice/kubepods-burstable.slice');
  assert.equal(pathOfSlice('-.slice'), '/');
  for (const wrong of ['a', 'a--b.slice', 'a/b.slice', '-a.slice'])
    assert.throws(
      () => pathOfSlice(wrong),
      (error) => errorCode(error) === 'invalid_argument',
      wrong,
    );
});

test('cgroups that only systemd may make are refused with what to do', () => {
  assert.throws(() => refuseSystemdCgroup('kubepods.slice:cri:x'), /cgroupfs/);
  assert.throws(() => refuseSystemdCgroup('/kubepods.slice/kubepods-podX.slice'), /cgroupfs/);
  refuseSystemdCgroup('/kubepods/podX');
});
