/** Device nodes in an image: a container that was not given these devices cannot open them, even though their modes allow it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { FaultyRegistry } from '../images/faulty-registry.ts';
import { addImage, packLayer } from '../images/made-image.ts';
import { directory, file, symlink } from '../unpack/layer.fixture.ts';

const runtime = new RuntimeUnderTest();
let registry: FaultyRegistry;
before(async () => {
  registry = await FaultyRegistry.start();
  await runtime.start();
});
after(async () => {
  await registry[Symbol.asyncDispose]();
  assert.deepEqual(await runtime.end(), []);
});

test('the memory, the kernel log and a disk of the host cannot be opened', async () => {
  const { cri } = runtime;
  const node = (name: string, flag: string, device: [number, number]) => ({ name, flag, device, mode: 0o666 });
  const layer = packLayer(
    tarArchive([
      directory('bin'),
      { ...file('bin/busybox', '', { mode: 0o755 }), body: readFileSync('/bin/busybox') },
      symlink('bin/sh', 'busybox'),
      node('mem', '3', [1, 1]),
      node('kmsg', '3', [1, 11]),
      node('disk', '4', [254, 0]),
      node('null', '3', [1, 3]),
    ]),
    'gzip',
  );
  addImage(registry, { tag: '1', layers: [layer] });
  const image = `${registry.host}/room/devices:1`;
  await cri.image.pullImage({ image: { image } });
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(runtime.place, 'devices') });
  const config = containerOf(image, 'devices', 'exec busybox sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  for (const name of ['mem', 'kmsg', 'disk']) {
    const cmd = ['busybox', 'dd', `if=/${name}`, 'of=/dev/null', 'bs=1', 'count=1'];
    const { exitCode, stderr } = await cri.runtime.execSync({ containerId, cmd, timeout: 20n });
    assert.notEqual(exitCode, 0, name);
    assert.match(Buffer.from(stderr).toString(), /Operation not permitted/, name);
  }
  const cmd = ['busybox', 'dd', 'if=/null', 'of=/dev/null', 'bs=1', 'count=1'];
  assert.equal(
    (await cri.runtime.execSync({ containerId, cmd, timeout: 20n })).exitCode,
    0,
    'the default devices of containers',
  );
  await cri.runtime.removePodSandbox({ podSandboxId });
  await cri.image.removeImage({ image: { image } });
});
