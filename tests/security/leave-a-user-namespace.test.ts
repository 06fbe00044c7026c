/**
 * Container root in a pod with a user namespace tries to act as the host's root. It has all capabilities and neither a seccomp filter nor
 * masked paths: all that restricts it is the user namespace, in which device nodes cannot be opened.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NamespaceMode } from '@podwright/cri';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const HOST_ID = 300_000;
const place = makeTestPlace();
const runtime = new RuntimeUnderTest(place);
const volume = join(place.logs, 'volume');
before(async () => {
  await runtime.start();
  mkdirSync(volume, { recursive: true });
  // device nodes for /dev/mem and /dev/kmsg, as an image or another pod may have left them on a volume
  execFileSync('mknod', ['-m', '666', join(volume, 'mem'), 'c', '1', '1']);
  execFileSync('mknod', ['-m', '666', join(volume, 'kmsg'), 'c', '1', '11']);
});
after(async () => {
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

const mapping = [{ containerId: 0, hostId: HOST_ID, length: 65_536 }];
const usernsOptions = { mode: NamespaceMode.POD, uids: mapping, gids: mapping };

/** Starts a container with all privileges in a pod with a user namespace; `run` runs a script in the container and returns its output. */
async function start(handler: string, network: NamespaceMode) {
  const { cri, image } = runtime;
  const name = `${handler}-${NamespaceMode[network].toLowerCase()}`;
  const linux = {
    securityContext: {
      capabilities: { addCapabilities: ['ALL'] },
      namespaceOptions: { pid: NamespaceMode.CONTAINER, network, usernsOptions },
      seccomp: { profileType: 1 },
      apparmor: { profileType: 1 },
    },
  };
  const sandboxConfig = { ...podOf(place, name), linux };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig, runtimeHandler: handler });
  const mounts = [{ containerPath: '/volume', hostPath: volume, uidMappings: mapping, gidMappings: mapping }];
  const config = { ...containerOf(image, 'main', 'exec sleep 1000'), linux, mounts };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await cri.runtime.startContainer({ containerId });
  const run = async (script: string) => {
    const { stdout } = await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 120n });
    return Buffer.from(stdout).toString();
  };
  return { podSandboxId, containerId, run };
}

/**
 * Shell commands with which the container's root tries to change the host. The name of each command is printed if it succeeds. They write
 * existing values, so that success does no harm.
 */
const ATTEMPTS = {
  'write a sysctl of the host': 'v=$(cat /proc/sys/kernel/core_pattern); echo "$v" > /proc/sys/kernel/core_pattern',
  'write a sysctl of the host in a new proc':
    'mkdir /p; mount -t proc proc /p; v=$(cat /p/sys/vm/swappiness); echo "$v" > /p/sys/vm/swappiness',
  'trigger a SysRq': 'echo h > /proc/sysrq-trigger',
  'write to sysfs': 'mount -o remount,bind,rw /sys; v=$(cat /sys/kernel/profiling); echo "$v" > /sys/kernel/profiling',
  'make a device node': 'mknod /node b 8 0 || mknod /volume/node b 8 0',
  'open a device node of a volume': 'head -c 1 /volume/mem || head -c 1 /volume/kmsg',
  'lift its own limits':
    'cd /sys/fs/cgroup; mount -o remount,bind,rw . ; [ -d pids ] && { mount -o remount,bind,rw pids; cd pids; }; echo max > pids.max',
  'set a program that the kernel runs':
    'mkdir /c; mount -t cgroup -o pids c /c; cat /c/release_agent && echo > /c/release_agent',
  'lower its OOM score': 'echo -1000 > /proc/self/oom_score_adj',
  'mount debugfs': 'mkdir /d; mount -t debugfs d /d',
  'set the clock': 'date -s @"$(date +%s)" 2>&1 | { ! grep permitted; }',
  'see processes of the host': '[ "$(cat /proc/1/comm)" != sleep ]',
};

for (const handler of ['crun', 'runc']) {
  test(`with ${handler} the root of a pod with a user namespace acts on the host`, async () => {
    const { podSandboxId, containerId, run } = await start(handler, NamespaceMode.POD);
    const script = Object.entries(ATTEMPTS).map(([name, attempt]) => `(${attempt}) > /dev/null 2>&1 && echo '${name}'`);
    assert.equal(await run(`${script.join('\n')}\n:`), '');
    assert.equal(
      await run(
        '(sysctl -n net.ipv4.ip_forward && ip link add own type dummy) > /dev/null 2>&1; hostname x && hostname',
      ),
      'x\n',
      'it can change its own namespaces',
    );

    await run('cp /bin/busybox /program && chmod 6755 /program');
    const program = statSync(join(place.options.state, 'containers', containerId, 'rootfs/program'));
    assert.deepEqual([program.uid, program.gid, program.mode & 0o7777], [HOST_ID, HOST_ID, 0o6755]);
    const { pid } = JSON.parse(
      (await runtime.cri.runtime.containerStatus({ containerId, verbose: true })).info.info ?? '{}',
    );
    assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), new RegExp(`^Uid:\\s${HOST_ID}\\s`, 'm'));
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  });

  test(`with ${handler} the root of a pod with a user namespace changes the host's network`, async () => {
    const { podSandboxId, run } = await start(handler, NamespaceMode.NODE);
    const attempts = {
      'add an address': 'ip addr add 192.0.2.1/32 dev lo',
      'add a link': 'ip link add pw-evil type dummy',
      'write a sysctl':
        'mount -o remount,bind,rw /proc/sys; v=$(cat /proc/sys/net/ipv4/ip_forward); echo "$v" > /proc/sys/net/ipv4/ip_forward',
      'listen to all packets': 'ping -c 1 -W 1 127.0.0.1',
      'bind to a low port': 'timeout 2 nc -l -p 1 < /dev/null; [ $? -eq 143 ]',
    };
    const script = Object.entries(attempts).map(([name, attempt]) => `(${attempt}) > /dev/null 2>&1 && echo '${name}'`);
    assert.equal(await run(`${script.join('\n')}\n:`), '');
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  });
}
