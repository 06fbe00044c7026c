import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { ContainerState, PodSandboxState } from '@podwright/cri';
import { takeInventory } from '../fixtures/host-inventory.ts';
import { startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const runtime = new RuntimeUnderTest();
const { place } = runtime;
/** Directory for host-local's address assignments. It is on disk, so a reboot does not release them. */
const addresses = join(place.directory, 'root', 'test-addresses');

before(async () => {
  const ipam = { type: 'host-local', dataDir: addresses, ranges: [[{ subnet: place.options.network.subnet }]] };
  const plugin = { type: 'bridge', bridge: place.options.network.bridge, isGateway: true, ipam };
  const list = { cniVersion: '0.4.0', name: 'lasting', plugins: [plugin] };
  writeFileSync(join(place.options.network.confDir, '10-lasting.conflist'), JSON.stringify(list));
  await runtime.start();
  await runtime.stop();
});
after(async () => {
  await runtime.start({}, { load: false });
  const left = await runtime.end();
  execFileSync('ip', ['link', 'delete', place.options.network.bridge]); // the bridge belongs to the host's CNI configuration
  assert.deepEqual(
    left.filter((line) => !line.startsWith('links: ') && !line.includes(addresses)),
    [],
  );
});

/** Simulates a reboot: removes all of the runtime's processes, mounts, links and cgroups, and its state directory. */
async function reboot(): Promise<void> {
  for (const line of takeInventory(place.scope).processes) process.kill(Number(line.split(' ')[0]), 'SIGKILL');
  const { options, scope } = place;
  for (const mountPoint of takeInventory(scope).mounts.reverse()) execFileSync('umount', ['-l', mountPoint]);
  for (const cgroup of takeInventory(scope).cgroups.reverse()) {
    await waitFor(() => removed(cgroup), { intervalMs: 20, signal: AbortSignal.timeout(5000) });
  }
  execFileSync('ip', ['link', 'delete', options.network.bridge]);
  rmSync(options.state, { recursive: true, force: true });
  rmSync(options.socket, { force: true });
}

/** Removes a cgroup; returns true on success. May fail at first, because the kernel needs time to clean up killed processes. */
function removed(cgroup: string): true | undefined {
  try {
    rmdirSync(cgroup);
    return true;
  } catch {
    return undefined;
  }
}

const givenAddresses = () => readdirSync(join(addresses, 'lasting')).filter((name) => /^\d/.test(name));

test('after a reboot pods are not ready, their containers have exited, and their addresses are free', async () => {
  const first = await startKillable(place);
  const { podSandboxId } = await first.cri.runtime.runPodSandbox({ config: podOf(place, 'rebooted') });
  const create = async (name: string) => {
    const config = containerOf(runtime.image, name, 'exec sleep 1000');
    return (await first.cri.runtime.createContainer({ podSandboxId, config })).containerId;
  };
  const running = await create('running');
  await create('created');
  await first.cri.runtime.startContainer({ containerId: running });
  assert.equal(givenAddresses().length, 1);
  await first.kill();
  await reboot();

  const second = await startKillable(place);
  const { cri } = second;
  assert.equal((await cri.runtime.podSandboxStatus({ podSandboxId })).status?.state, PodSandboxState.SANDBOX_NOTREADY);
  const { status } = await cri.runtime.containerStatus({ containerId: running });
  assert.deepEqual(
    [status?.state, status?.reason, status?.exitCode],
    [ContainerState.CONTAINER_EXITED, 'Unknown', 255],
  );
  assert.deepEqual(givenAddresses(), []);
  const next = { ...podOf(place, 'rebooted'), metadata: { ...podOf(place, 'rebooted').metadata, attempt: 1 } };
  const again = await cri.runtime.runPodSandbox({ config: next });
  await cri.runtime.removePodSandbox({ podSandboxId });
  await cri.runtime.removePodSandbox({ podSandboxId: again.podSandboxId });
  assert.deepEqual(givenAddresses(), []);
  assert.deepEqual(await runtime.remains(), []);
  await second.kill();
});

test('files without a record are removed at startup', async () => {
  const { options } = place;
  const id = 'ab'.repeat(32);
  mkdirSync(join(options.state, 'ns', id), { recursive: true });
  mkdirSync(join(options.state, 'containers', id, 'rootfs'), { recursive: true });
  for (const directory of [options.state, options.root]) {
    mkdirSync(join(directory, 'sandboxes', id), { recursive: true });
    writeFileSync(join(directory, 'sandboxes', id, 'hosts'), '');
  }
  mkdirSync(join(options.state, 'containers', 'not-an-id'), { recursive: true });
  const second = await startKillable(place);
  await second.kill();
  for (const directory of ['ns', 'containers', 'sandboxes'])
    assert.ok(!existsSync(join(options.state, directory, id)), directory);
  assert.ok(!existsSync(join(options.root, 'sandboxes', id)), 'the files of a sandbox');
  assert.ok(existsSync(join(options.state, 'containers', 'not-an-id')), 'a name that is not an id is foreign');
  rmSync(join(options.state, 'containers', 'not-an-id'), { recursive: true });
});

test('records with a newer version are rejected and left unchanged', async () => {
  const path = join(place.options.root, 'metadata.db');
  const { default: Database } = await import('better-sqlite3');
  const set = (version: number) => {
    const database = new Database(path);
    database.prepare("UPDATE schema_versions SET version = ? WHERE name = 'sandboxes'").run(version);
    database.close();
  };
  set(99);
  const before = readFileSync(path);
  await assert.rejects(runtime.start({}, { load: false }), /use the newer Podwright/);
  assert.ok(readFileSync(path).equals(before));
  set(1);
});
