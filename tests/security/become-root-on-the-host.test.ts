/**
 * A local user tries to become root through files created by containers: setuid programs, device nodes, shared memory (CVE-2021-41103,
 * CVE-2021-41091). The user knows the paths, because the IDs appear in the command lines of container monitors.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { NamespaceMode } from '@podwright/cri';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { asNobody, opportunitiesOfNobody } from './as-nobody.fixture.ts';

const place = makeTestPlace();
chmodSync(place.directory, 0o755); // as /run and /var/lib
const runtime = new RuntimeUnderTest(place);
const { root, state } = place.options;
before(async () => {
  await runtime.start();
});
after(async () => {
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

const PREPARE = `
  for directory in / /v; do
    cp /bin/busybox $directory/rs && chmod 4755 $directory/rs
    mknod $directory/dev0 c 1 5 && chmod 666 $directory/dev0
  done
  : > /dev/shm/seen; chmod 666 /dev/shm/seen; echo ready; exec sleep 1000`;

async function start(name: string, linux?: object) {
  const { cri } = runtime;
  const layout = join(place.directory, 'image', name);
  mkdirSync(layout, { recursive: true });
  const image = await makeBusyboxImage(layout, {
    ...{ name: `localhost/test/${name}:1`, config: { Volumes: { '/v': {} } }, files: { '/v/file': 'of the image' } },
  });
  for await (const _ of cri.transfers.load({ path: layout }));
  const sandboxConfig = { ...podOf(place, name), ...(linux === undefined ? {} : { linux }) };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig });
  const config = { ...containerOf(image.name, 'main', PREPARE), ...(linux === undefined ? {} : { linux }) };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await cri.runtime.startContainer({ containerId });
  const cmd = ['sh', '-c', 'until [ -e /dev/shm/seen ]; do :; done'];
  await cri.runtime.execSync({ containerId, cmd, timeout: 60n });
  const end = async () => {
    await cri.runtime.removePodSandbox({ podSandboxId });
    await cri.image.removeImage({ image: { image: image.name } });
  };
  return { podSandboxId, containerId, end };
}

/** Returns the host paths of files created by the container. */
function madeBy({ podSandboxId, containerId }: { podSandboxId: string; containerId: string }): string[] {
  const rootfs = join(state, 'containers', containerId, 'rootfs');
  const volume = join(root, 'containers', containerId, 'volume-0');
  return [join(rootfs, 'rs'), join(volume, 'rs'), join(volume, 'file'), join(state, 'sandboxes', podSandboxId, 'shm')];
}

test('other users on the host cannot access files created by a container', async () => {
  const made = await start('plain');
  const paths = madeBy(made);
  assert.equal(statSync(paths[0]!).mode & 0o7777, 0o4755, 'the program is setuid to root');
  for (const path of paths) assert.ok(existsSync(path), `${path} is there`);
  assert.deepEqual(opportunitiesOfNobody(paths), []);
  assert.match(asNobody('"$1" id', { args: [paths[0]!] }), /[Pp]ermission denied/);
  assert.match(asNobody('stat "$1"', { args: [join(state, 'containers', 'x')] }), /Permission denied/);
  await made.end();
});

test('other users on the host cannot access files of a container with a user namespace, only its own root can', async () => {
  const mapping = [{ containerId: 0, hostId: 300_000, length: 65_536 }];
  const usernsOptions = { mode: NamespaceMode.POD, uids: mapping, gids: mapping };
  const namespaceOptions = { pid: NamespaceMode.CONTAINER, usernsOptions };
  const cri = runtime.cri.runtime;
  const linux = { securityContext: { namespaceOptions } };
  const sandboxConfig = { ...podOf(place, 'mapped'), linux };
  const { podSandboxId } = await cri.runPodSandbox({ config: sandboxConfig });
  const script = 'cp /bin/busybox /rs && chmod 4755 /rs; : > /dev/shm/seen; exec sleep 1000';
  const config = { ...containerOf(runtime.image, 'main', script), linux };
  const { containerId } = await cri.createContainer({ podSandboxId, config, sandboxConfig });
  await cri.startContainer({ containerId });
  const cmd = ['sh', '-c', 'until [ -e /dev/shm/seen ]; do :; done'];
  await cri.execSync({ containerId, cmd, timeout: 60n });

  const program = join(state, 'containers', containerId, 'rootfs/rs');
  assert.ok(existsSync(program));
  assert.deepEqual(opportunitiesOfNobody([state, join(state, 'containers'), dirname(program), program]), []);
  const { mode, gid } = statSync(join(state, 'containers', containerId));
  assert.deepEqual([(mode & 0o777).toString(8), gid], ['710', 300_000]);
  await cri.removePodSandbox({ podSandboxId });

  await runtime.stop();
  await runtime.start({}, { load: false });
  for (const closed of [state, join(state, 'containers')]) assert.equal(statSync(closed).mode & 0o777, 0o700);
});
