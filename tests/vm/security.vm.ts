/**
 * Attacks on kernel features that not every host has: cgroup v2, AppArmor, and systemd with shared mounts. run.sh has a guest with all
 * three. Tests are named after the attacks, which must fail.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NamespaceMode } from '@podwright/cri';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const place = makeTestPlace();
const runtime = new RuntimeUnderTest(place);
const volume = join(place.logs, 'volume');
before(async () => {
  await runtime.start();
  mkdirSync(volume, { recursive: true });
  execFileSync('mknod', ['-m', '666', join(volume, 'kmsg'), 'c', '1', '11']);
});
after(async () => {
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

const mapping = [{ containerId: 0, hostId: 300_000, length: 65_536 }];
const mapped = { usernsOptions: { mode: NamespaceMode.POD, uids: mapping, gids: mapping } };
const everything = { capabilities: { addCapabilities: ['ALL'] } };
const [RUNTIME_DEFAULT, UNCONFINED, LOCALHOST] = [0, 1, 2];

type Request = { handler: string; namespaces?: object; security?: object; resources?: object; script?: string };

async function create(name: string, request: Request) {
  const { cri, image } = runtime;
  const { handler, namespaces = {}, security = {}, resources = {}, script = 'exec sleep 1000' } = request;
  const namespaceOptions = { pid: NamespaceMode.CONTAINER, ...namespaces };
  const sandboxConfig = { ...podOf(place, name), linux: { securityContext: { namespaceOptions } } };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig, runtimeHandler: handler });
  const config = {
    ...containerOf(image, 'main', script),
    ...{ mounts: [{ containerPath: '/volume', hostPath: volume }] },
    ...{ linux: { resources, securityContext: { namespaceOptions, ...security } } },
  };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  return { podSandboxId, containerId };
}

/** Starts a container. `run` runs a script in it and returns the output; `worked` returns the names of the attempts that succeeded. */
async function start(name: string, request: Request) {
  const { cri } = runtime;
  const { podSandboxId, containerId } = await create(name, request);
  await cri.runtime.startContainer({ containerId });
  const run = async (script: string) => {
    const { stdout } = await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 300n });
    return Buffer.from(stdout).toString().trim();
  };
  const worked = async (attempts: Record<string, string>) => {
    const lines = Object.entries(attempts).map(([what, attempt]) => `(${attempt}) > /dev/null 2>&1 && echo '${what}'`);
    return (await run(`${lines.join('\n')}\n:`)).split('\n').filter((line) => line !== '');
  };
  return { containerId, run, worked, end: () => cri.runtime.removePodSandbox({ podSandboxId }) };
}

const mountsBelow = (directory: string) =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ').slice(3, 5).join(' at '))
    .filter((mount) => mount.includes(` at ${directory}`));

/** Attempts by root with all capabilities that are denied only by AppArmor. */
const DENIED_BY_PROFILE = {
  mount: 'mkdir -p /m && mount -t tmpfs tmpfs /m',
  'make a mount writable': 'mount -o remount,bind,rw /sys/fs/cgroup',
  'write a sysctl': 'v=$(cat /proc/sys/kernel/core_pattern); echo "$v" > /proc/sys/kernel/core_pattern',
  'write a file of proc': 'echo h > /proc/sysrq-trigger',
  'look into a process outside': 'readlink /proc/1/exe && ls /proc/1/root/root',
};

for (const handler of ['crun', 'runc']) {
  test(`with ${handler} a pod with a user namespace mounts something on the host, whose network it has`, async () => {
    const before = mountsBelow('/sys');
    const namespaces = { ...mapped, network: NamespaceMode.NODE };
    const security = { ...everything, apparmor: { profileType: UNCONFINED } };
    const { worked, end } = await start(`shared-${handler}`, { handler, namespaces, security });
    assert.deepEqual(mountsBelow('/sys'), before);
    const cover = 'mount -t tmpfs tmpfs /sys/fs && mount -t tmpfs tmpfs /sys/kernel';
    assert.deepEqual(await worked({ cover }), ['cover'], 'mounting works in its own mount namespace');
    assert.deepEqual(mountsBelow('/sys'), before);
    await end();
  });

  test(`with ${handler} a container lifts the limits of its cgroup, or leaves it`, async () => {
    const resources = { memoryLimitInBytes: 64n << 20n, unified: { 'pids.max': '30', 'memory.oom.group': '1' } };
    for (const [name, namespaces, security] of [
      ['plain', {}, {}],
      ['mapped', mapped, { ...everything, apparmor: { profileType: UNCONFINED } }],
    ] as const) {
      const request = { handler, namespaces, security, resources };
      const { containerId, run, worked, end } = await start(`${name}-${handler}`, request);
      const limits = await run('cd /sys/fs/cgroup; cat memory.max pids.max memory.oom.group /proc/self/cgroup');
      assert.equal(limits, `${64 << 20}\n30\n1\n0::/`);
      const attempts = {
        'lift a limit': 'cd /sys/fs/cgroup; mount -o remount,bind,rw .; echo max > memory.max || echo max > pids.max',
        'lift a limit by its own mount':
          'mkdir -p /c; mount -t cgroup2 c /c && cd /c && { echo max > memory.max || echo max > pids.max; }',
        'leave the cgroup': 'cd /sys/fs/cgroup; mount -o remount,bind,rw .; echo $$ > ../cgroup.procs',
        'end others':
          'for f in $(find / -xdev -name cgroup.kill | grep -v ^/sys/fs/cgroup/); do echo 1 > $f && exit; done; false',
        'open a device that is not allowed': 'head -c 1 /volume/kmsg',
        'exceed the limit of processes':
          'for i in $(seq 40); do sleep 30 & done; [ $(cat /sys/fs/cgroup/pids.current) -gt 30 ]',
      };
      assert.deepEqual(await worked(attempts), []);
      const tree = join('/sys/fs/cgroup', place.options.cgroupParent, containerId);
      assert.equal(readFileSync(join(tree, 'memory.max'), 'utf8'), `${64 << 20}\n`);
      assert.equal(readFileSync(join(tree, 'pids.max'), 'utf8'), '30\n');
      await end();
    }
  });

  test(`with ${handler} a container does something that the default AppArmor profile denies`, async () => {
    const namespaces = { pid: NamespaceMode.NODE };
    const free = { handler, namespaces, security: { ...everything, apparmor: { profileType: UNCONFINED } } };
    const unconfined = await start(`unconfined-${handler}`, free);
    // Ubuntu 24.04 and Debian 13 have profiles for OCI runtimes that are inherited by their children, but do not confine anything
    assert.match(await unconfined.run('cat /proc/self/attr/current'), /^unconfined$|^(crun|runc) \(unconfined\)$/);
    assert.deepEqual(await unconfined.worked(DENIED_BY_PROFILE), Object.keys(DENIED_BY_PROFILE));
    await unconfined.end();
    for (const apparmor of [undefined, { profileType: RUNTIME_DEFAULT }]) {
      const name = `confined-${handler}-${apparmor === undefined ? 'silent' : 'asked'}`;
      const request = { handler, namespaces, security: { ...everything, apparmor } };
      const { run, worked, end } = await start(name, request);
      assert.equal(
        await run('cat /proc/self/attr/current'),
        'podwright-default (enforce)',
        'commands have the profile too',
      );
      assert.deepEqual(await worked(DENIED_BY_PROFILE), []);
      await end();
    }
  });
}

test('a client moves processes of the host into a container, or kills them, by files of cgroup v2', async () => {
  for (const key of ['cgroup.procs', 'cgroup.threads', 'cgroup.kill', 'cgroup.freeze', 'cgroup.type']) {
    const call = create(`unified-${key.slice(7)}`, { handler: 'crun', resources: { unified: { [key]: '1' } } });
    await assert.rejects(call, { code: 'invalid_argument', message: new RegExp(`unified: "${key}"`) });
  }
  assert.equal(readFileSync('/proc/1/cgroup', 'utf8'), '0::/init.scope\n');
});

test('a process of a container survives the OOM kill of the others', async () => {
  const script = 'sleep 1000 & x=a; while :; do x=$x$x; done';
  const resources = { memoryLimitInBytes: 32n << 20n, unified: { 'memory.oom.group': '1' } };
  const { containerId } = await create('hungry', { handler: 'crun', resources, script });
  await runtime.cri.runtime.startContainer({ containerId });
  await runtime.untilExited(containerId);
  const { status } = await runtime.cri.runtime.containerStatus({ containerId });
  assert.equal(status?.reason, 'OOMKilled');
});

test('a container runs without its requested AppArmor profile', async () => {
  for (const localhostRef of ['no-such-profile', 'podwright-defaul', 'unconfined']) {
    const { containerId } = await create(`missing-${localhostRef}`, {
      ...{ handler: 'crun', security: { apparmor: { profileType: LOCALHOST, localhostRef } } },
    }).catch((error) => ({ containerId: String(error) }));
    assert.match(containerId, /use AppArmor profile .*: it is not loaded/);
  }
});

test('pods leave units behind in systemd', async () => {
  const listUnits = () =>
    execFileSync('systemctl', ['list-units', '--all', '--plain', '--no-legend', '--type=scope,slice,mount,service'], {
      encoding: 'utf8',
    })
      .split('\n')
      .map((line) => line.split(' ')[0]!)
      .filter(
        (unit) => unit.includes(place.options.cgroupParent.slice(1)) || unit.includes('crun') || unit.includes('runc'),
      );
  const { end } = await start('units', { handler: 'runc' });
  await end();
  assert.deepEqual(listUnits(), []);
});
