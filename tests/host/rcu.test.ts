import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { discoverCgroups } from '@podwright/host';
import { measureCgroupMove } from '@podwright/runtime';
import { RCU_SWITCH } from '../../packages/runtime/src/host/rcu-expediting.ts';
import { podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest, removeTestPlace } from '../fixtures/runtime-under-test.ts';

const read = () => readFileSync(RCU_SWITCH, 'utf8').trim();

test('RCU is expedited while a pod starts and stops, if that and fast paths are configured, and not afterwards', async () => {
  const before = read();
  const runtime = new RuntimeUnderTest();
  let seen: string[] = [];
  const failpoint = async (stage: string) => {
    if (/^sandbox-(run|stop)/.test(stage)) seen.push(read());
  };
  for (const [expediteRcu, fastPaths] of [
    [true, true],
    [true, false],
    [false, true],
  ]) {
    seen = [];
    await runtime.start({ failpoint, expediteRcu, fastPaths }, { load: false });
    const { podSandboxId } = await runtime.cri.runtime.runPodSandbox({ config: podOf(runtime.place, 'quick') });
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
    assert.ok(seen.length > 2, seen.join());
    assert.ok(
      seen.every((value) => (value !== '0') === ((expediteRcu && fastPaths) || before !== '0')),
      seen.join(),
    );
    assert.equal(read(), before);
    await runtime.stop({ removeHostState: !expediteRcu });
    assert.ok(!existsSync(join(runtime.place.options.state, 'rcu_expedited')));
  }
  removeTestPlace(runtime.place);
});

test('the cost of a cgroup migration is measured without migrating a process', async () => {
  const before = readFileSync('/proc/self/cgroup', 'utf8');
  const { ms } = await measureCgroupMove(await discoverCgroups());
  assert.ok(ms > 0 && ms < 10_000, `${ms} ms`);
  assert.equal(readFileSync('/proc/self/cgroup', 'utf8'), before);
  const trees = [{ version: 2 as const, mountPoint: '/nowhere', controllers: [] }];
  await assert.rejects(measureCgroupMove({ mode: 'v2', trees }));
});
