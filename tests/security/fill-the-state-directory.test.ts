/**
 * A container fills up the files it shares with the runtime (CVE-2020-8557). The state directory is in memory, and all pods depend on it
 * for execs, exit codes and new sandboxes.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const STATE_MIB = 24;
const disk = mkdtempSync('/tmp/pwt-state-');
execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${STATE_MIB}M`, 'tmpfs', disk]);
const state = join(disk, 'state');
const place = makeTestPlace();
place.options.state = state;
place.scope.roots.push(state);
const runtime = new RuntimeUnderTest(place);

before(() => runtime.start());
after(async () => {
  const left = await runtime.end();
  execFileSync('umount', [disk]);
  rmdirSync(disk);
  assert.deepEqual(left, []);
});

async function startPod(name: string, script: string): Promise<{ podSandboxId: string; containerId: string }> {
  const { runtime: cri } = runtime.cri;
  const { podSandboxId } = await cri.runPodSandbox({ config: podOf(place, name) });
  const { containerId } = await cri.createContainer({ podSandboxId, config: containerOf(runtime.image, name, script) });
  await cri.startContainer({ containerId });
  return { podSandboxId, containerId };
}

test('a container that fills its files does not fill the state directory, and others keep running', async () => {
  const { runtime: cri } = runtime.cri;
  const sh = (containerId: string, script: string) =>
    cri.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 60n });
  const victim = await startPod('victim', 'trap "exit 7" TERM; while :; do sleep 0.1; done');
  const attacker = await startPod('attacker', 'exec sleep 1000');

  for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/hostname', '/dev/termination-log'])
    await sh(attacker.containerId, `dd if=/dev/zero of=${file} bs=1M count=${STATE_MIB}`);
  const { bavail, bsize } = statfsSync(state);
  const freeMiB = (bavail * bsize) >> 20;
  assert.ok(freeMiB > STATE_MIB / 2, `${freeMiB} MiB of the state directory are free`);

  assert.equal(String((await sh(victim.containerId, 'echo served')).stdout), 'served\n');
  await cri.stopContainer({ containerId: victim.containerId, timeout: 20n });
  const { status } = await cri.containerStatus({ containerId: victim.containerId });
  assert.equal(status?.exitCode, 7);
  await startPod('late', 'exec sleep 1000');
  await cri.removePodSandbox({ podSandboxId: attacker.podSandboxId });
});
