/**
 * A container creates nested directories in a volume up to the kernel's path length limit (on the host, the path is even longer), or a
 * great many files. The pod is still deleted, and quickly.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { removeTree } from '@podwright/host';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { NodePlace, podManifest } from '../pods/node.fixture.ts';
import { loadImage } from './made-image.fixture.ts';

/** Creates a path of 4092 bytes in the volume at /v. */
const DEEP = 'cd /v; for n in $(seq 372); do mkdir aaaaaaaaaa && cd aaaaaaaaaa; done';

const runtime = new RuntimeUnderTest();
let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
  await runtime.start();
});
after(async () => {
  bundle.remove();
  assert.deepEqual(await runtime.end(), []);
});

test('a container with deeply nested directories in an image volume is removed completely', async () => {
  const { cri, place } = runtime;
  const image = await loadImage(runtime, 'volume', { config: { Volumes: { '/v': {} } } });
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'deep') });
  const config = containerOf(image, 'deep', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', DEEP], timeout: 60n });
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId });
  await cri.image.removeImage({ image: { image } });
  assert.deepEqual(await runtime.remains(), []);
});

async function startNode(context: TestContext): Promise<NodePlace> {
  const place = new NodePlace(bundle, '10.99.141.0/24');
  context.after(() => place.remove());
  await place.loadImage();
  return place;
}

test('a pod with deeply nested directories and a huge number of files in an emptyDir is deleted soon', async (context) => {
  const place = await startNode(context);
  const volumes = '  volumes: [{name: v, emptyDir: {}}]\n';
  const script = `${DEEP}; cd /v; mkdir many; cd many; seq 50000 | xargs touch; echo made; trap 'exit 0' TERM; while :; do sleep 0.2; done`;
  const manifest = `${podManifest('deep', script, volumes)}    volumeMounts: [{name: v, mountPath: /v}]\n`;
  await place.ok('run', '--detach', place.file('deep.yaml', manifest));
  await place.until(async () => (await place.ok('logs', 'deep')).includes('made'));
  const startedMs = performance.now();
  await place.ok('delete', 'deep');
  const tookMs = performance.now() - startedMs;
  assert.deepEqual(await place.pods(), []);
  assert.ok(tookMs < 20_000, `${tookMs} ms`);
  await place.until(() => place.leftovers().filter((line) => line.includes('/trash/')).length === 0);
  assert.deepEqual(readdirSync(place.path('root/kubelet/pods')), []);
});

test('nothing behind a mount in a tree is removed, not even behind a bind mount on the same disk', async () => {
  const directory = mkdtempSync('/tmp/pwt-mounts-');
  const root = join(directory, 'root');
  const precious = join(directory, 'precious');
  for (const path of [join(root, 'below'), precious]) mkdirSync(path, { recursive: true });
  writeFileSync(join(precious, 'file'), 'x');
  execFileSync('mount', ['--bind', precious, join(root, 'below')]);
  try {
    await assert.rejects(removeTree(root), { code: 'failed_precondition', message: /it contains a mount/ });
    await assert.rejects(removeTree(join(root, 'below')), {
      code: 'failed_precondition',
      message: /it contains a mount/,
    });
    assert.equal(readFileSync(join(precious, 'file'), 'utf8'), 'x');
  } finally {
    execFileSync('umount', [join(root, 'below')]);
  }
  await removeTree(root);
  assert.ok(!existsSync(root));
  rmSync(precious, { recursive: true });
  rmdirSync(directory);
});
