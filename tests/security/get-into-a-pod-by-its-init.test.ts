/**
 * A local user looks for a pod's process that runs under the user's own UID on the host, as the pod's init might. Using signals, ptrace(2)
 * and /proc, the user could then access the pod's files and network.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { NamespaceMode } from '@podwright/cri';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { asNobody } from './as-nobody.fixture.ts';

const runtime = new RuntimeUnderTest();
before(async () => {
  await runtime.start();
});
after(async () => {
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

/** Returns the host PID of the first process in a container's PID namespace. */
async function initOf(containerId: string): Promise<number> {
  const { info } = await runtime.cri.runtime.containerStatus({ containerId, verbose: true });
  const { pid } = JSON.parse(info.info!) as { pid: number };
  const wanted = readlinkSync(`/proc/${pid}/ns/pid`);
  const isFirst = (name: string) => {
    try {
      const isOfNamespace = readlinkSync(`/proc/${name}/ns/pid`) === wanted;
      return isOfNamespace && /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${name}/status`, 'utf8'));
    } catch {
      return false; // the process has exited or is not accessible
    }
  };
  return Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && isFirst(name)));
}

test('no user on the host can signal, trace or inspect the init process of a pod with a shared PID namespace', async () => {
  const modes = { pid: NamespaceMode.POD };
  const { cri, image, place } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'shared', modes) });
  const config = containerOf(image, 'main', 'exec sleep 1000', modes);
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  const pid = await initOf(containerId);
  assert.ok(pid > 0);
  assert.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /^\/init/);

  const args = [String(pid)];
  assert.match(asNobody('kill -0 "$1"', { args }), /not permitted/);
  const look = 'ls "/proc/$1/root/"; cat "/proc/$1/environ"; readlink "/proc/$1/exe"; ls -l "/proc/$1/fd"';
  const own = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
  assert.equal(own, 65_535, 'an id that no user has');
  for (const uid of [65_534, own]) {
    const seen = asNobody(look, { args, uid });
    assert.equal(seen.match(/[Pp]ermission denied/g)?.length, 3, seen);
    assert.ok(!seen.includes('init'), seen);
  }
  await cri.runtime.removePodSandbox({ podSandboxId });
});
