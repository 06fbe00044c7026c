/**
 * A container's processes have megabytes of arguments. The runtime searches all processes for its own programs on startup, and after a
 * container has failed to start.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { NamespaceMode } from '@podwright/cri';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { peakBytes, resetPeak } from './memory-of.fixture.ts';

const PROCESSES = 25;
/** Number of arguments. Close to Linux's limit: 6 MiB including the pointers. */
const WORDS = 500_000;
const MAX_GROWN_BYTES = 100 << 20;
/** A script that starts processes with half a million arguments each, which it generates once. */
const ATTACK = `
ulimit -s unlimited
set -- $(yes ab | head -n ${WORDS})
for n in $(seq ${PROCESSES}); do sh -c 'echo up; sleep 1000; :' "$@" & done
wait`;

const runtime = new RuntimeUnderTest();
let daemon: KillableRuntime;
let podSandboxId: string;
let quietStartBytes: number;

before(async () => {
  await runtime.start();
  await runtime.stop();
  daemon = await startKillable(runtime.place);
  const { cri } = daemon;
  ({ podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(runtime.place, 'many-words') }));
  await failToStart();
  await daemon.kill();
  daemon = await startKillable(runtime.place);
  quietStartBytes = peakBytes(daemon.pid);
});
after(async () => {
  await daemon.kill();
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

/** Starts a container whose command does not exist. */
async function failToStart(): Promise<void> {
  const { runtime: cri } = daemon.cri;
  const config = { ...containerOf(runtime.image, 'none', ''), command: ['/no/such/program'] };
  const start = async () => {
    const { containerId } = await cri.createContainer({ podSandboxId, config });
    await cri.startContainer({ containerId }).finally(() => cri.removeContainer({ containerId }));
  };
  await assert.rejects(start(), /no\/such\/program/);
}

test('megabytes of container arguments do not increase the runtime’s memory, neither after a failed start nor at its own start', async () => {
  const { runtime: cri } = daemon.cri;
  const config = containerOf(runtime.image, 'attacker', ATTACK, { pid: NamespaceMode.POD });
  const { containerId } = await cri.createContainer({ podSandboxId, config });
  await cri.startContainer({ containerId });
  const areThere = async () => {
    const { stdout } = await cri.execSync({
      containerId,
      cmd: ['sh', '-c', 'cat /proc/[0-9]*/cmdline | wc -c'],
      timeout: 20n,
    });
    return Number(String(stdout)) > PROCESSES * WORDS * 'ab '.length || undefined;
  };
  await waitFor(areThere, { intervalMs: 500, signal: AbortSignal.timeout(60_000) });

  await daemon.memory();
  const before = resetPeak(daemon.pid);
  await failToStart();
  const grown = peakBytes(daemon.pid) - before;

  await daemon.kill();
  daemon = await startKillable(runtime.place);
  const startGrown = peakBytes(daemon.pid) - quietStartBytes;
  assert.ok(grown < MAX_GROWN_BYTES, `at a failed start ${grown >> 20} MiB more`);
  assert.ok(startGrown < MAX_GROWN_BYTES, `at its own start ${startGrown >> 20} MiB more`);
});
