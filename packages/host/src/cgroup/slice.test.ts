import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupPathOf, parseSystemdCgroup, scopeOf, slicePath } from './slice.ts';

test('cgroup names in slice:prefix:name format are parsed', () => {
  assert.deepEqual(parseSystemdCgroup('kubepods-besteffort-podX.slice:cri:abc'), {
    slice: 'kubepods-besteffort-podX.slice',
    prefix: 'cri',
    name: 'abc',
  });
  assert.equal(parseSystemdCgroup('/kubepods/podX/abc'), undefined);
  assert.equal(parseSystemdCgroup('/a.slice:b:c'), undefined);
});

test('a scope’s path contains all its ancestor slices', () => {
  const path = '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2.slice/podwright-abc.scope';
  assert.equal(cgroupPathOf('kubepods-besteffort-pod1_2.slice:podwright:abc'), path);
  assert.equal(scopeOf(path), 'podwright-abc.scope');
  assert.equal(cgroupPathOf('/kubepods/pod1/abc'), '/kubepods/pod1/abc');
  assert.equal(scopeOf('/kubepods/pod1/abc'), undefined);
  assert.equal(slicePath('-.slice'), '/');
});

test('invalid slice names are refused', () => {
  for (const name of ['.slice', 'a--b.slice', '-a.slice', 'a-.slice', 'a b.slice', 'a/b.slice', 'a.scope'])
    assert.throws(() => slicePath(name), /systemd has no such names/, name);
});
