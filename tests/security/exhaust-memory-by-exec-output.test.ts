/**
 * A command in a container writes a byte at a time, so that the runtime reads a byte at a time. What is kept of it must cost what
 * it counts: 16 MiB, as for containerd (CVE-2022-31030, CVE-2022-1708).
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
/** What they may take besides the garbage of an exec; as a list of chunks they would take twice as much. */
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

/** How much the runtime has grown meanwhile, at its largest. */
async function grownBytes(work: () => Promise<unknown>): Promise<number> {
  await daemon.memory(); // collects garbage
  const before = resetPeak(daemon.pid);
  await work();
  return peakBytes(daemon.pid) - before;
}

/** Writes bytes one by one, each once the pipe's other end had a chance to take the one before. */
const byteByByte = (count: number) => `i=0; while [ $i -lt ${count} ]; do printf x; i=$((i+1)); done`;

test('output of one byte at a time costs little more than its bytes, and all of it is there', async () => {
  let sizeBytes = 0;
  const grown = await grownBytes(async () => {
    sizeBytes = (await exec(byteByByte(MANY), 120)).stdout.length;
  });
  assert.equal(sizeBytes, MANY);
  assert.ok(grown < MAX_GROWN_BYTES, `${grown >> 20} MiB more`);
});

test('a command that writes for ever is stopped by its timeout, and costs no more meanwhile', async () => {
  const grown = await grownBytes(async () => {
    await assert.rejects(exec('yes', 2), { code: 'deadline_exceeded' });
    await assert.rejects(exec('while :; do printf x; done', 3), { code: 'deadline_exceeded' });
  });
  assert.ok(grown < MAX_GROWN_BYTES, `${grown >> 20} MiB more`);
});

test('of more than an answer takes both streams are kept in part, and the memory is given back', async () => {
  const { rssBytes } = await daemon.memory();
  for (let round = 0; round < 4; round++) {
    const { stdout, stderr, exitCode } = await exec(
      'yes | head -c 20000000; head -c 17000000 /dev/zero >&2; exit 3',
      60,
    );
    assert.equal(exitCode, 3);
    for (const { length } of [stdout, stderr]) assert.ok(length > 8_000_000 && length <= 8 << 20, `${length} bytes`);
  }
  let kept = 0;
  const isGivenBack = async () => {
    kept = (await daemon.memory()).rssBytes - rssBytes;
    return kept < MAX_GROWN_BYTES || undefined;
  };
  // V8 frees buffers on a thread of its own, which a busy host lets wait
  await waitFor(isGivenBack, { intervalMs: 200, signal: AbortSignal.timeout(20_000) }).catch(() =>
    assert.fail(`${kept >> 20} MiB more`),
  );
});
