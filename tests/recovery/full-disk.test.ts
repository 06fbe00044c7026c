/**
 * The disk with the runtime's records and files fills up: each call reports this, leaves nothing behind, and succeeds once there is space.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorCode, isErrno } from '@podwright/base';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const disk = mkdtempSync('/tmp/pw-disk-');
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24M', 'tmpfs', disk]);
const place = makeTestPlace(disk);
const runtime = new RuntimeUnderTest(place);
const filler = join(disk, 'filler');

before(() => runtime.start());
after(async () => {
  rmSync(filler, { force: true });
  const left = await runtime.end();
  execFileSync('umount', [disk]);
  rmdirSync(disk);
  assert.deepEqual(left, []);
});

/** Runs `work` with just this many bytes free on the disk. */
async function withFree<T>(freeBytes: number, work: () => Promise<T>): Promise<T> {
  fill(freeBytes);
  try {
    return await work();
  } finally {
    rmSync(filler);
  }
}

function fill(freeBytes: number): void {
  const file = openSync(filler, 'w');
  const piece = Buffer.alloc(1 << 20);
  let size = 0;
  try {
    for (;;) size += writeSync(file, piece);
  } catch (error) {
    assert.ok(isErrno(error, 'ENOSPC'), String(error));
  }
  ftruncateSync(file, Math.max(0, size - freeBytes));
  closeSync(file);
}

/** Starts and removes a pod. */
async function life(name: string): Promise<void> {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const request = { podSandboxId, config: containerOf(image, 'main', 'exec sleep 1000') };
  const { containerId } = await cri.runtime.createContainer(request);
  await cri.runtime.startContainer({ containerId });
  await cri.runtime.stopContainer({ containerId, timeout: 0n });
  await cri.runtime.removePodSandbox({ podSandboxId });
}

/** Asserts that the error's code and message are those for a full disk. */
function assertFull(error: unknown): void {
  assert.equal(errorCode(error), 'resource_exhausted', String(error));
  assert.match(String(error), /no space left|disk is full/i);
}

/** Free disk space that is too small for a pod's files. */
const TOO_FEW_BYTES = 16 << 10;
/** Free disk space that is sufficient for a pod: twice the measured size of its files. */
const ENOUGH_BYTES = 256 << 10;

for (const freeBytes of [0, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256].map((kibibytes) => kibibytes << 10)) {
  test(`a pod on a disk with ${freeBytes} free bytes fails with a clear error, and starts once there is space`, async () => {
    const error = await withFree(freeBytes, () =>
      life('full').then(
        () => undefined,
        (reason: unknown) => reason,
      ),
    );
    if (freeBytes <= TOO_FEW_BYTES) assert.notEqual(error, undefined, 'this size cannot be enough');
    if (freeBytes >= ENOUGH_BYTES) assert.equal(error, undefined);
    if (error !== undefined) assertFull(error);
    const { items } = await runtime.cri.runtime.listPodSandbox({});
    for (const { id } of items) await runtime.cri.runtime.removePodSandbox({ podSandboxId: id });
    await life('full');
    assert.deepEqual(await runtime.remains(), []);
  });
}

test('a running pod is removed on a completely full disk', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'running') });
  const request = { podSandboxId, config: containerOf(image, 'main', 'exec sleep 1000') };
  const { containerId } = await cri.runtime.createContainer(request);
  await cri.runtime.startContainer({ containerId });
  await withFree(0, () => cri.runtime.removePodSandbox({ podSandboxId }));
  assert.deepEqual(await runtime.remains(), []);
});
