import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOomIn } from './kernel-oom-log.ts';

const scope = '/kubepods.slice/kubepods-pod1.slice/podwright-abc.scope';
const record = (victim: string) =>
  `6,1182,91480811,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=/kubepods.slice,task_memcg=${victim},task=sh,pid=553,uid=0\n`;

test('an OOM kill is recognized by its victim’s cgroup', () => {
  assert.ok(isOomIn(record(scope), scope));
  assert.ok(isOomIn(record(`${scope}/container`), scope));
  assert.ok(!isOomIn(record(`${scope}x`), scope));
  assert.ok(!isOomIn(record('/kubepods.slice/kubepods-pod1.slice/podwright-other.scope'), scope));
});

test('a log record written by a program is not mistaken for a kernel message', () => {
  assert.ok(!isOomIn(`12,1,1,-;sh: ;oom-kill:x,task_memcg=${scope},task=sh\n`, scope));
});
