import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { NamespaceMode } from '@podwright/cri';
import { createCgroup, discoverCgroups } from '@podwright/host';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { containerOf, type Modes, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

/** In addition to the OCI runtimes' handlers, one whose pods have an infra process. */
const HANDLERS = { handlers: { paused: { task: 'oci', program: 'crun', sandbox: 'pause' } } };
const runtime = new RuntimeUnderTest();
let data: string;
before(async () => {
  mkdirSync(join(runtime.place.options.state, 'oci', 'runc'), { recursive: true }); // runc's state directory, which would be left over
  await createCgroup(await discoverCgroups(), runtime.place.options.cgroupParent!); // created by the first pod otherwise
  await runtime.start(HANDLERS);
  data = join(runtime.place.logs, 'data');
  mkdirSync(data, { recursive: true });
});
afterEach(async () => {
  const { items } = await runtime.cri.runtime.listPodSandbox({});
  for (const { id } of items) await runtime.cri.runtime.removePodSandbox({ podSandboxId: id });
  assert.deepEqual(await runtime.remains(), []);
  assert.notEqual(statSync('/dev/null').uid, HOST_ID, 'the /dev/null of the host does not belong to a pod');
});
after(async () => {
  rmSync(data, { recursive: true });
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

const HOST_ID = 200_000;
const mapping = [{ containerId: 0, hostId: HOST_ID, length: 65_536 }];
const usernsOptions = { mode: NamespaceMode.POD, uids: mapping, gids: mapping };
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** Starts a container in a pod of its own with a user namespace; `run` runs a script in it. */
async function start(name: string, script: string, { handler = '', modes = {}, ...more }: Options = {}) {
  const { cri, image, place } = runtime;
  const linux = { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER, ...modes, usernsOptions } } };
  const sandboxConfig = { ...podOf(place, name), linux };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig, runtimeHandler: handler });
  const config = { ...containerOf(image, 'main', script), linux, ...more };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await cri.runtime.startContainer({ containerId });
  const run = async (command: string) => {
    const cmd = ['sh', '-c', command];
    const { stdout, stderr, exitCode } = await cri.runtime.execSync({ containerId, cmd, timeout: 60n });
    assert.equal(exitCode, 0, `${command}: ${text(stderr)}`);
    return text(stdout).trim();
  };
  return { podSandboxId, containerId, run, log: () => readFileSync(join(place.logs, name, 'main.log'), 'utf8') };
}
type Options = { handler?: string; modes?: Modes; mounts?: object[]; devices?: object[]; tty?: boolean };

for (const handler of ['crun', 'runc', 'paused']) {
  test(`with ${handler} a pod with a user namespace owns its root, its files, its volumes and its network`, async () => {
    const volume = join(data, handler);
    mkdirSync(volume);
    writeFileSync(join(volume, 'file'), 'of root');
    const mounts = [{ containerPath: '/data', hostPath: volume, uidMappings: mapping, gidMappings: mapping }];
    const devices = [{ containerPath: '/dev/other', hostPath: '/dev/null', permissions: 'rw' }];
    const script = 'echo out > /dev/stdout; echo err > /dev/stderr; exec sleep 1000';
    const { containerId, run, log } = await start(`users-${handler}`, script, { handler, mounts, devices });

    assert.match(await run('cat /proc/self/uid_map'), new RegExp(`^0 +${HOST_ID} +65536$`));
    assert.match(await run('cat /proc/self/gid_map'), new RegExp(`^0 +${HOST_ID} +65536$`));
    const owners = 'stat -c %u:%g / /bin /etc/passwd /etc/hosts /etc/resolv.conf /dev/shm /data /data/file';
    assert.deepEqual(new Set((await run(owners)).split('\n')), new Set(['0:0']));
    await run('touch /new /bin/new /dev/shm/new /data/new && echo 10.9.9.9 other >> /etc/hosts');
    await run('chown 7:8 /new && test "$(stat -c %u:%g /new)" = 7:8');
    assert.equal(statSync(join(volume, 'new')).uid, 0, 'files that root of the pod writes to a volume belong to root');
    assert.equal(await run('echo x > /dev/other && stat -c %t:%T /dev/other'), '1:3');
    assert.match(await run('hostname -i'), /^10\./);
    assert.equal(await run('cat /proc/sys/net/ipv4/ip_unprivileged_port_start'), '0');
    await run('(echo hello | nc -l -p 80) > /dev/null 2>&1 &');
    assert.equal(await readPort((await run('hostname -i')).trim(), 80), 'hello\n');
    await run('ls /sys/class/net/eth0 > /dev/null');
    await run('! echo b > /proc/sysrq-trigger && ! touch /proc/sys/kernel/panic_on_oops');
    const { status } = await runtime.cri.runtime.containerStatus({ containerId });
    assert.equal(status?.mounts[0]?.uidMappings[0]?.hostId, HOST_ID);
    assert.match(log(), / stdout F out$/m);
    assert.match(log(), / stderr F err$/m);
  });
}

test('files of a volume without mappings belong to unmapped users', async () => {
  const mounts = [{ containerPath: '/data', hostPath: data, readonly: true }];
  const { run } = await start('unmapped', 'exec sleep 1000', { mounts });
  assert.equal(await run('stat -c %u /data'), '65534');
});

test('a terminal belongs to the user', async () => {
  const { log } = await start('terminal', 'stat -c "owner %u" $(tty); echo done > $(tty); exec sleep 1000', {
    tty: true,
  });
  const said = () => /owner 0\b.*done/s.test(log()) || undefined;
  await waitFor(said, { intervalMs: 50, signal: AbortSignal.timeout(60_000) });
});

test('containers share the pod’s PID namespace, which is owned by its user namespace', async () => {
  const { run } = await start('shared', 'exec sleep 1000', { modes: { pid: NamespaceMode.POD } });
  assert.match(await run('cat /proc/1/cmdline | tr "\\0" " "'), /init/);
  assert.match(await run('cat /proc/1/uid_map'), new RegExp(`${HOST_ID}`));
});

test('a pod with a user namespace can use the host network, but not change it', async () => {
  const { run } = await start('hostnet', 'exec sleep 1000', { modes: { network: NamespaceMode.NODE } });
  assert.match(await run('cat /proc/self/uid_map'), new RegExp(`${HOST_ID}`));
  assert.match(await run('ls /sys/class/net'), /lo/);
  await run('! ip link add bridge9 type bridge 2> /dev/null && ! touch /sys/kernel/new 2> /dev/null');
});

test('a pod’s own process can be the first one a runtime starts in a user namespace', async () => {
  await runtime.stop();
  await runtime.start(HANDLERS, { load: false });
  const { run } = await start('first', 'exec sleep 1000', { modes: { pid: NamespaceMode.POD } });
  assert.match(await run('cat /proc/1/cmdline | tr "\\0" " "'), /init/);
});

test('a pod’s own process from an image can also be the first one in a user namespace', async () => {
  const layout = join(runtime.place.directory, 'image', 'pause');
  const config = { Entrypoint: ['/bin/sleep', '100000'], Cmd: [], User: '65535:65535' };
  const { name: pauseImage } = await makeBusyboxImage(layout, { name: 'localhost/test/pause:1', config });
  for await (const _ of runtime.cri.transfers.load({ path: layout }));
  await runtime.stop();
  await runtime.start({ handlers: { imaged: { ...HANDLERS.handlers.paused, pauseImage } } }, { load: false });
  const { run } = await start('imaged', 'exec sleep 1000', { handler: 'imaged' });
  assert.match(await run('cat /proc/self/uid_map'), new RegExp(`${HOST_ID}`));
  const { items } = await runtime.cri.runtime.listPodSandbox({});
  for (const { id } of items) await runtime.cri.runtime.removePodSandbox({ podSandboxId: id });
  await runtime.stop();
  await runtime.start(HANDLERS, { load: false });
  await runtime.cri.image.removeImage({ image: { image: pauseImage } });
});

test('a container must use its pod’s user namespace', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await start('same', 'exec sleep 1000');
  const config = containerOf(image, 'other', 'true');
  await assert.rejects(cri.runtime.createContainer({ podSandboxId, config }), {
    code: 'invalid_argument',
    message: /its user namespace differs/,
  });
});

test('the pod and its user namespace are recovered when the runtime restarts', async () => {
  const { podSandboxId, containerId, run } = await start('again', 'exec sleep 1000');
  await run('touch /before');
  await runtime.stop();
  await runtime.start(HANDLERS, { load: false });
  const { cri, image } = runtime;
  const { status } = await cri.runtime.podSandboxStatus({ podSandboxId });
  assert.equal(status?.state, 0);
  assert.equal(status.linux?.namespaces?.options?.usernsOptions?.uids[0]?.hostId, HOST_ID);
  const cmd = ['sh', '-c', 'stat -c %u /before; cat /proc/self/uid_map'];
  const { stdout } = await cri.runtime.execSync({ containerId, cmd, timeout: 60n });
  assert.match(text(stdout), new RegExp(`^0\n +0 +${HOST_ID}`));
  const linux = { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER, usernsOptions } } };
  const config = { ...containerOf(image, 'second', 'cat /proc/self/uid_map'), linux };
  const second = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId: second.containerId });
  await runtime.untilExited(second.containerId);
  assert.equal((await cri.runtime.containerStatus({ containerId: second.containerId })).status?.exitCode, 0);
});

/** Reads what a server sends on a port, as soon as the port is open. */
async function readPort(host: string, port: number): Promise<string> {
  const ask = async () => {
    try {
      const chunks = await connect({ host, port }).setEncoding('utf8').toArray();
      return chunks.join('');
    } catch {
      return undefined;
    }
  };
  return await waitFor(ask, { intervalMs: 100, signal: AbortSignal.timeout(60_000) });
}
