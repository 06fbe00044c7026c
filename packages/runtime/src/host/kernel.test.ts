import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMountinfo } from '@podwright/system';
import { cgroupMountOptions, minimumOomScoreAdj, statusField } from './kernel.ts';

test('oom_score_adj goes below our own only with the right to', () => {
  assert.equal(minimumOomScoreAdj(['CAP_SYS_RESOURCE'], 0), -1000);
  assert.equal(minimumOomScoreAdj([], 0), 0);
  assert.equal(minimumOomScoreAdj([], -999), -999);
});

test('fields of a status file are found by their whole name', () => {
  const status = 'Name:\tx\nCapEff:\t00ff\nSeccomp_filters:\t0\n';
  assert.equal(statusField(status, 'CapEff'), '00ff');
  assert.equal(statusField(status, 'Seccomp'), undefined);
});

test('options that all mounts of the cgroup tree share are those of its super block', () => {
  const line = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot';
  assert.deepEqual(cgroupMountOptions(parseMountinfo(Buffer.from(line))), ['nsdelegate', 'memory_recursiveprot']);
  assert.deepEqual(cgroupMountOptions([]), []);
});
