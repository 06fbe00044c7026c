/**
 * CheckpointContainer with the real CRIU, which does not work with every kernel and distribution; run.sh has a guest for it. Verifies the
 * archive by restoring it with runc: the process continues where it was.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const place = makeTestPlace();
const runtime = new RuntimeUnderTest(place);
const scratch = join(place.directory, 'net.d', 'checkpoint');

before(async () => {
  mkdirSync(scratch, { recursive: true });
  await runtime.start({ ociRuntime: 'runc' });
});
after(async () => assert.deepEqual(await runtime.end(), []));

/** Runs a container that keeps a counter in memory, on its file system and in its log. */
async function runCounter(name: string, runtimeHandler: string) {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name), runtimeHandler });
  const script = 'rm -f /etc/group; i=0; while :; do i=$((i+1)); echo $i; echo $i > /count; sleep 0.1; done';
  const config = containerOf(image, 'main', script);
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

/** Waits until the container's counter exceeds `least`; returns its value. */
function countBeyond(least: number, read: () => Promise<string>): Promise<number> {
  const beyond = async () => {
    const count = Number(await read());
    return count > least ? count : undefined;
  };
  return waitFor(beyond, { intervalMs: 100, signal: AbortSignal.timeout(120_000) });
}

async function readInside(containerId: string): Promise<string> {
  const cmd = ['sh', '-c', 'cat /count || true'];
  const { stdout } = await runtime.cri.runtime.execSync({ containerId, cmd, timeout: 60n });
  return Buffer.from(stdout).toString();
}

const mountOptions = (path: string) =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[4] === path)!
    .split(' - ')[1]!
    .split(' ')[2]!;

test('the container keeps running after its checkpoint, and a restored one continues from the state in the archive', async (context) => {
  const { cri } = runtime;
  const { podSandboxId, containerId } = await runCounter('checkpointed', 'runc');
  const read = () => readInside(containerId);
  const counted = await countBeyond(3, read);
  const archive = join(scratch, 'archive.tar');
  await cri.runtime.checkpointContainer({ containerId, location: archive });
  await countBeyond(counted, read);

  const out = join(scratch, 'out');
  const restored = join(scratch, 'restored');
  const state = join(scratch, 'state');
  for (const path of [out, restored, state, join(restored, 'rootfs')]) mkdirSync(path);
  await runChecked('tar', ['--extract', '--file', archive, '--directory', out]);
  const names = readdirSync(out);
  for (const name of ['config.dump', 'spec.dump', 'status.dump', 'dump.log', 'stats-dump', 'rootfs-diff.tar'])
    assert.ok(names.includes(name), `${name} of ${names}`);
  const memory = readdirSync(join(out, 'checkpoint'));
  for (const name of ['inventory.img', 'pstree.img', 'core-1.img', 'pages-1.img', 'descriptors.json'])
    assert.ok(memory.includes(name), `${name} of ${memory}`);

  // restore as another node would: with the image's layer, the archive's changes to it, and the pod's namespaces
  const spec = JSON.parse(readFileSync(join(out, 'spec.dump'), 'utf8'));
  const lower = /lowerdir=([^,]+)/.exec(mountOptions(spec.root.path))![1]!;
  await cri.runtime.stopContainer({ containerId });
  const rootfs = join(restored, 'rootfs');
  await runChecked('cp', ['--archive', ...lower.split(':').map((layer) => `${layer}/.`), rootfs]);
  await runChecked('tar', ['--extract', '--file', join(out, 'rootfs-diff.tar'), '--directory', rootfs]);
  const restoredCount = Number(readFileSync(join(rootfs, 'count'), 'utf8'));
  assert.ok(restoredCount >= counted, `${restoredCount} is less than ${counted}`);
  spec.root.path = rootfs;
  writeFileSync(join(restored, 'config.json'), JSON.stringify(spec));
  const runc = (...args: string[]) => runChecked('runc', ['--root', state, ...args]);
  context.after(() => runc('delete', '--force', 'again').catch(() => undefined));
  // CRIU gives the process runc's stdio, so redirect that to a file: inherited from Node.js, it would be sockets
  const restore =
    'exec runc --root "$1" restore --detach --image-path "$2" --work-path "$3" --bundle "$4" again > "$3/stdio" 2>&1';
  const shell = ['-c', restore, 'sh', state, join(out, 'checkpoint'), out, restored];
  await runChecked('sh', shell).catch((error) => {
    const why = readFileSync(join(out, 'restore.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('Error ('));
    throw new Error(why.join('\n'), { cause: error });
  });
  const again = await countBeyond(restoredCount, () => runc('exec', 'again', 'cat', '/count'));
  assert.ok(again < restoredCount + 500, `${again} does not continue from ${restoredCount}`);
  await runc('delete', '--force', 'again');
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('a checkpoint with a crun without CRIU is not implemented, and the container keeps running', async () => {
  const { podSandboxId, containerId } = await runCounter('plain', 'crun');
  const read = () => readInside(containerId);
  const counted = await countBeyond(0, read);
  const location = join(scratch, 'none.tar');
  const call = runtime.cri.runtime.checkpointContainer({ containerId, location });
  await assert.rejects(call, { code: 'unimplemented', message: /built without CRIU/ });
  await countBeyond(counted, read);
  await runtime.cri.runtime.removePodSandbox({ podSandboxId });
});
