/**
 * A container creates a directory of 130,000 files, and directories deeper than PATH_MAX, so that its disk usage cannot be measured: then
 * images would not be collected, and its volumes would have no limit.
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
const ATTACK = `
mkdir /many && cd /many && seq ${FILES} | xargs touch
mkdir /deep && cd /deep && for n in $(seq 370); do mkdir aaaaaaaaaa && cd aaaaaaaaaa; done`;

const runtime = new RuntimeUnderTest();
before(async () => {
  await runtime.start();
});
after(async () => {
  assert.deepEqual(await runtime.end(), []);
});

test('a container with a huge directory and a deep one is measured, and so is the image file system', async () => {
  const { cri, place, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'huge') });
  const config = containerOf(image, 'huge', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', ATTACK], timeout: 120n });

  const all = BigInt(FILES + 370);
  const { stats } = await cri.runtime.listContainerStats({ filter: { id: containerId } });
  assert.ok(stats[0]!.writableLayer!.inodesUsed!.value >= all, String(stats[0]!.writableLayer!.inodesUsed?.value));
  const { containerFilesystems } = await cri.image.imageFsInfo({});
  assert.ok(containerFilesystems[0]!.inodesUsed!.value >= all, String(containerFilesystems[0]!.inodesUsed?.value));
  await cri.runtime.execSync({ containerId, cmd: ['rm', '-rf', '/many', '/deep'], timeout: 60n });
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
    const excess = () => emptyDirExcess(pod, files);
    await waitFor(excess, { intervalMs: 10, signal: AbortSignal.timeout(20_000) });
    for (let round = 0; round < 100; round++) assert.notEqual(await excess(), undefined);
  } finally {
    process.kill(-restless.pid!, 'SIGKILL'); // with its children
    await once(restless, 'exit');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
});
