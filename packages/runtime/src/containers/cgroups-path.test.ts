import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { cgroupsPathBelow, podCgroup, taskCgroupBelow } from './cgroups-path.ts';

const sandbox = (cgroupParent: string) => ({ config: { cgroupParent } }) as SandboxRecord;
const slice = '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2.slice';

test('a task’s cgroup is a path under the pod’s cgroup, or a systemd scope if that is a slice', () => {
  const pathOf = cgroupsPathBelow({ cgroupDriver: 'systemd', cgroupParent: '/own' });
  assert.equal(pathOf(sandbox(''), 'abc'), '/own/abc');
  assert.equal(pathOf(sandbox('/kubepods/pod1'), 'abc'), '/kubepods/pod1/abc');
  assert.equal(pathOf(sandbox(slice), 'abc'), 'kubepods-besteffort-pod1_2.slice:podwright:abc');
  assert.equal(pathOf(sandbox('system.slice'), 'abc'), 'system.slice:podwright:abc');
});

test('the cgroupfs driver refuses a slice, and the error names the setting to change', () => {
  const pathOf = cgroupsPathBelow({ cgroupParent: '/own' });
  assert.throws(() => pathOf(sandbox(slice), 'abc'), {
    code: 'failed_precondition',
    message: /cgroup_driver = "systemd"/,
  });
});

test('a task’s cgroup is found with either parent type, regardless of the current driver', () => {
  const pathOf = taskCgroupBelow('/own');
  assert.equal(pathOf(sandbox(''), 'abc'), '/own/abc');
  assert.equal(pathOf(sandbox(slice), 'abc'), `${slice}/podwright-abc.scope`);
  assert.equal(podCgroup('kubepods-besteffort-pod1_2.slice'), slice);
  assert.equal(podCgroup(slice), slice);
  assert.equal(podCgroup('/kubepods/pod1'), '/kubepods/pod1');
});
