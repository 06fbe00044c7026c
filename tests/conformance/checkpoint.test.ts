/**
 * CheckpointContainer. Uses a fake OCI runtime that writes a file in place of CRIU's images, to test everything around CRIU. If CRIU is
 * missing, the call is unimplemented.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { writeFakeCriu, writeFakeRunc } from './fake-criu.fixture.ts';

const place = makeTestPlace();
const programs = join(place.directory, 'net.d', 'programs');
const archive = join(place.directory, 'net.d', 'checkpoint.tar');
const pathBefore = process.env.PATH;
const runtime = new RuntimeUnderTest(place);

before(async () => {
  await runtime.start({ ociRuntime: writeFakeRunc(programs) });
});

after(async () => {
  process.env.PATH = pathBefore;
  assert.deepEqual(await runtime.end(), []);
});

async function runContainer(name: string, script: string) {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const { image: found } = await cri.image.imageStatus({ image: { image } });
  const asKubelet = { image: found!.id, userSpecifiedImage: image };
  const { containerId } = await cri.runtime.createContainer({
    podSandboxId,
    config: { ...containerOf(image, 'main', script), image: asKubelet },
  });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

/** Asserts that the container is still running, by running a command in it. */
async function goesOn(containerId: string): Promise<void> {
  const { exitCode } = await runtime.cri.runtime.execSync({ containerId, cmd: ['true'], timeout: 60n });
  assert.equal(exitCode, 0);
}

test('without CRIU a checkpoint is not implemented, and the message says what is missing', async () => {
  const { podSandboxId, containerId } = await runContainer('bare', 'exec sleep 1000');
  const call = runtime.cri.runtime.checkpointContainer({ containerId, location: archive });
  await assert.rejects(call, { code: 'unimplemented', message: /CRIU .* install the package criu/ });
  await runtime.cri.runtime.removePodSandbox({ podSandboxId });
});

test('with CRIU the archive has memory, changed files, specification and log, and the container keeps running', async () => {
  writeFakeCriu(programs);
  process.env.PATH = `${programs}:${pathBefore}`;
  const script =
    'echo hello; echo new > /written; rm /etc/passwd; rm -r /home; mkdir /home; touch /ready; exec sleep 1000';
  const { podSandboxId, containerId } = await runContainer('kept', script);
  const { cri } = runtime;
  const ready = async () => {
    const { exitCode } = await cri.runtime.execSync({ containerId, cmd: ['test', '-e', '/ready'] });
    return exitCode === 0 || undefined;
  };
  await waitFor(ready, { intervalMs: 20, signal: AbortSignal.timeout(60_000) });
  await cri.runtime.checkpointContainer({ containerId, location: archive });
  await goesOn(containerId);

  assert.equal(statSync(archive).mode & 0o777, 0o600);
  const out = join(programs, 'out');
  mkdirSync(out);
  await runChecked('tar', ['--extract', '--file', archive, '--directory', out]);
  const read = (name: string) => readFileSync(join(out, name), 'utf8');
  assert.deepEqual(readdirSync(out).sort(), [
    'checkpoint',
    'config.dump',
    'container.log',
    'deleted.files',
    'dump.log',
    'rootfs-diff.tar',
    'spec.dump',
    'status.dump',
  ]);
  assert.equal(JSON.parse(read('checkpoint/state.json')).status, 'paused', 'it is paused during the checkpoint');
  const { id, rootfsImage, rootfsImageName } = JSON.parse(read('config.dump'));
  assert.deepEqual([id, rootfsImage, rootfsImageName], [containerId, runtime.image, runtime.image]);
  assert.equal(JSON.parse(read('status.dump')).image.image, runtime.image);
  assert.equal(JSON.parse(read('spec.dump')).process.args[0], 'sh');
  assert.equal(JSON.parse(read('status.dump')).metadata.name, 'main');
  assert.match(read('container.log'), / stdout F hello\n/);
  assert.deepEqual(JSON.parse(read('deleted.files')), ['/etc/passwd']);
  const files = (await runChecked('tar', ['--list', '--file', join(out, 'rootfs-diff.tar')])).split('\n');
  for (const name of ['written', 'etc/.wh.passwd', 'home/.wh..wh..opq'])
    assert.ok(files.includes(name), `${name} of ${files}`);
  assert.ok(!files.includes('etc/passwd'));
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('a checkpoint that fails or times out leaves nothing behind, and the container keeps running', async () => {
  const { podSandboxId, containerId } = await runContainer('failed', 'exec sleep 1000');
  const { cri } = runtime;
  const location = `${archive}.failed`;
  writeFileSync(join(programs, 'fail'), '');
  const failed = cri.runtime.checkpointContainer({ containerId, location });
  await assert.rejects(failed, {
    code: 'internal',
    message: /criu failed: type DUMP errno 0: CRIU says: .*too much memory; 'criu check' shows/,
  });
  await runChecked('mv', [join(programs, 'fail'), join(programs, 'hang')]);
  const late = cri.runtime.checkpointContainer({ containerId, location, timeout: 1n });
  await assert.rejects(late, { code: 'deadline_exceeded' });
  await goesOn(containerId);
  assert.deepEqual(
    readdirSync(dirname(location)).filter((name) => /partial|failed/.test(name)),
    [],
  );
  await assert.rejects(cri.runtime.checkpointContainer({ containerId, location: 'here.tar' }), {
    code: 'invalid_argument',
  });
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('a container left paused by a killed runtime is resumed by the next one', async () => {
  const { podSandboxId, containerId } = await runContainer('cut', 'exec sleep 1000');
  const hangs = join(programs, 'hangs');
  rmSync(hangs, { force: true });
  writeFileSync(join(programs, 'hang'), '');
  await runtime.stop();
  const ociRuntime = join(programs, 'runc');
  const doomed = await startKillable({ ...place, options: { ...place.options, ociRuntime } });
  const cut = assert.rejects(doomed.cri.runtime.checkpointContainer({ containerId, location: archive }));
  const pid = () => (existsSync(hangs) && Number(readFileSync(hangs, 'utf8'))) || undefined;
  const hanging = await waitFor(pid, { intervalMs: 20, signal: AbortSignal.timeout(60_000) });
  await doomed.kill();
  await cut;
  process.kill(hanging, 'SIGKILL');
  await runtime.start({ ociRuntime }, { load: false });
  await goesOn(containerId);
  assert.deepEqual(readdirSync(join(place.options.root, 'containers', containerId)), []);
  await runtime.cri.runtime.removePodSandbox({ podSandboxId });
});
