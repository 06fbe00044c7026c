/**
 * A container creates a directory with 130,000 files, and 10,000 directories under 2000 nested ones, so that its disk usage cannot be
 * measured. Images would then not be garbage-collected, and pods would have no limits.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import type { Pod } from '../../packages/kube-api/src/objects/types.ts';
import { emptyDirExcess } from '../../packages/kubelet/src/eviction/local-storage.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const FILES = 130_000;
const LEVELS = 2000;
const DIRECTORIES = 10_000;
const ATTACK = `
mkdir /many && cd /many && seq ${FILES} | xargs touch
mkdir /deep && cd /deep && for n in $(seq ${LEVELS}); do mkdir aaaaaaaaaa && cd -P aaaaaaaaaa || exit 1; done
seq ${DIRECTORIES} | xargs mkdir`;

const runtime = new RuntimeUnderTest();
before(async () => {
  await runtime.start();
});
after(async () => {
  assert.deepEqual(await runtime.end(), []);
});

test('a container with a huge and a deeply nested directory is measured, and so is the image file system', async () => {
  const { cri, place, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'huge') });
  const config = containerOf(image, 'huge', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', ATTACK], timeout: 300n });

  const all = BigInt(FILES + LEVELS + DIRECTORIES);
  const measured = async () => {
    const startedAtMs = performance.now();
    const { stats } = await cri.runtime.listContainerStats({ filter: { id: containerId } });
    const tookMs = performance.now() - startedAtMs;
    assert.ok(tookMs < 5000, `${tookMs} ms`);
    return (stats[0]!.writableLayer!.inodesUsed?.value ?? 0n) >= all;
  };
  await waitFor(measured, { intervalMs: 500, signal: AbortSignal.timeout(60_000) });
  const hasAll = async () => (await cri.image.imageFsInfo({})).containerFilesystems[0]!.inodesUsed!.value >= all;
  await waitFor(hasAll, { intervalMs: 500, signal: AbortSignal.timeout(60_000) });
  await cri.runtime.execSync({ containerId, cmd: ['rm', '-rf', '/many'], timeout: 60n });
  await cri.runtime.removePodSandbox({ podSandboxId });
  const isDeleted = () => runtime.podThings().every((line) => !line.includes('/trash/')) || undefined;
  await waitFor(isDeleted, { intervalMs: 500, signal: AbortSignal.timeout(120_000) }); // deep trees take long
});

test('a pod that continuously creates and removes files is still evicted when its volume exceeds its limit', async () => {
  const directory = mkdtempSync('/tmp/pwt-restless-');
  const script =
    'head -c 3000000 /dev/zero >big; while :; do mkdir -p a/b/c a/d/e; touch a/b/c/1 a/d/e/2; rm -rf a; done';
  const restless = spawn('sh', ['-c', script], { cwd: directory, stdio: 'ignore', detached: true });
  const pod = {
    metadata: { name: 'restless', namespace: 'default', uid: 'u' },
    spec: { containers: [], volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }] },
  } as unknown as Pod;
  try {
    const files = { paths: new Map([['v', directory]]), held: async () => new Map() };
    const excess = async () => (await emptyDirExcess(pod, files)).excess;
    await waitFor(excess, { intervalMs: 10, signal: AbortSignal.timeout(20_000) });
    for (let round = 0; round < 100; round++) assert.notEqual(await excess(), undefined);
  } finally {
    process.kill(-restless.pid!, 'SIGKILL'); // with its children
    await once(restless, 'exit');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
});
