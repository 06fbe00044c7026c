/**
 * A command in a container writes byte by byte, so that the runtime reads byte by byte. The buffered output must not take more memory
 * than its limit, 16 MiB as in containerd (CVE-2022-31030, CVE-2022-1708).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { NamespaceMode } from '@podwright/cri';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { peakBytes, resetPeak } from './memory-of.fixture.ts';

const MANY = 600_000;
/** Maximum growth of the runtime's memory during an exec, including garbage; a list of one-byte chunks would take twice as much. */
const MAX_GROWN_BYTES = 100 << 20;

const runtime = new RuntimeUnderTest();
let daemon: KillableRuntime;
let containerId: string;

before(async () => {
  await runtime.start();
  await runtime.stop();
  daemon = await startKillable(runtime.place);
  const { podSandboxId } = await daemon.cri.runtime.runPodSandbox({ config: podOf(runtime.place, 'writer') });
  const config = containerOf(runtime.image, 'writer', 'exec sleep 1000', { pid: NamespaceMode.POD });
  ({ containerId } = await daemon.cri.runtime.createContainer({ podSandboxId, config }));
  await daemon.cri.runtime.startContainer({ containerId });
  await exec('echo warm', 10);
});
after(async () => {
  await daemon.kill();
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

const exec = (script: string, seconds: number) =>
  daemon.cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: BigInt(seconds) });

/** Returns the runtime's peak memory growth during the work. */
async function grownBytes(work: () => Promise<unknown>): Promise<number> {
  await daemon.memory(); // collects garbage
  const before = resetPeak(daemon.pid);
  await work();
  return peakBytes(daemon.pid) - before;
}

/** Returns a script that writes bytes one at a time, slowly enough for each to be read separately. */
const byteByByte = (count: number) => `i=0; while [ $i -lt ${count} ]; do printf x; i=$((i+1)); done`;

test('output written byte by byte uses little more memory than its size, and is complete', async () => {
  let sizeBytes = 0;
  const grown = await grownBytes(async () => {
    sizeBytes = (await exec(byteByByte(MANY), 120)).stdout.length;
  });
  assert.equal(sizeBytes, MANY);
  assert.ok(grown < MAX_GROWN_BYTES, `${grown >> 20} MiB more`);
});

test('a command that writes forever is killed at its timeout, and uses no more memory', async () => {
  const grown = await grownBytes(async () => {
    await assert.rejects(exec('yes', 2), { code: 'deadline_exceeded' });
    await assert.rejects(exec('while :; do printf x; done', 3), { code: 'deadline_exceeded' });
  });
  assert.ok(grown < MAX_GROWN_BYTES, `${grown >> 20} MiB more`);
});

test('concurrent commands together use no more memory than four responses, and each keeps the beginning of its output', async () => {
  const calls = Array.from({ length: 12 }, () => exec('head -c 17000000 /dev/zero; sleep 3', 60));
  const sizes = (await Promise.all(calls)).map(({ stdout }) => stdout.length);
  const sum = sizes.reduce((total, size) => total + size, 0);
  assert.ok(sum <= (64 << 20) + 12 * 4096, `${sum} bytes`);
  assert.ok(Math.min(...sizes) >= 4096, `${Math.min(...sizes)} bytes`);
});

test('output over the response limit is truncated on both streams, and the memory is freed', async () => {
  const { rssBytes } = await daemon.memory();
  for (let round = 0; round < 4; round++) {
    const { stdout, stderr, exitCode } = await exec(
      'yes | head -c 20000000; head -c 17000000 /dev/zero >&2; exit 3',
      60,
    );
    assert.equal(exitCode, 3);
    for (const { length } of [stdout, stderr]) assert.ok(length > 8_000_000 && length <= 8 << 20, `${length} bytes`);
  }
  let grownNow = 0;
  const isGivenBack = async () => {
    grownNow = (await daemon.memory()).rssBytes - rssBytes;
    return grownNow < MAX_GROWN_BYTES || undefined;
  };
  // V8 frees buffers on a separate thread, which may be delayed on a busy host
  await waitFor(isGivenBack, { intervalMs: 200, signal: AbortSignal.timeout(20_000) }).catch(() =>
    assert.fail(`${grownNow >> 20} MiB more`),
  );
});
