import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMountinfo } from '@podwright/system';
import { cgroupMountOptions, minimumOomScoreAdj, statusField } from './kernel.ts';

test('oom_score_adj is below this process’s own only with CAP_SYS_RESOURCE', () => {
  assert.equal(minimumOomScoreAdj(['CAP_SYS_RESOURCE'], 0), -1000);
  assert.equal(minimumOomScoreAdj([], 0), 0);
  assert.equal(minimumOomScoreAdj([], -999), -999);
});

test('status file fields are found only by their full name', () => {
  const status = 'Name:\tx\nCapEff:\t00ff\nSeccomp_filters:\t0\n';
  assert.equal(statusField(status, 'CapEff'), '00ff');
  assert.equal(statusField(status, 'Seccomp'), undefined);
});

test('the options of the cgroup v2 hierarchy are read from its superblock', () => {
  const line = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot';
  assert.deepEqual(cgroupMountOptions(parseMountinfo(Buffer.from(line))), ['nsdelegate', 'memory_recursiveprot']);
  assert.deepEqual(cgroupMountOptions([]), []);
});
