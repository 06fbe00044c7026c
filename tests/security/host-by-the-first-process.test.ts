/**
 * A container or its image tries to access the host through things that the OCI runtime leaves open or sets up for its processes: file
 * descriptors, working directories, interpreters, capabilities, groups, devices, masked paths and sockets.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NamespaceMode } from '@podwright/cri';
import { requireProgram } from '../../packages/host/src/programs/find-program.ts';
import type { FixtureEntry } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { symlink } from '../unpack/layer.fixture.ts';
import { AttackedRuntime, OCI_RUNTIMES } from './attacked-runtime.fixture.ts';

const attacked = new AttackedRuntime();
const marker = join(attacked.runtime.place.directory, 'logs', 'marker');
const ownPid = { namespaceOptions: { pid: NamespaceMode.CONTAINER } };

before(async () => {
  await attacked.start();
  mkdirSync(join(attacked.runtime.place.directory, 'logs'), { recursive: true });
  writeFileSync(marker, 'of the host');
});
after(() => attacked.end());

async function exec(containerId: string, ...cmd: string[]): Promise<string> {
  const { stdout } = await attacked.runtime.cri.runtime.execSync({ containerId, cmd, timeout: 60n });
  return Buffer.from(stdout).toString();
}

/** Runs a script as the process of a new container, and by exec in a running container. Returns both outputs. */
async function inBoth(handler: string, script: string, linux: object = { securityContext: ownPid }): Promise<string[]> {
  const pod = await attacked.pod(`both-${handler}`, { handler });
  const { out } = await attacked.run(pod, { script, linux });
  const running = await attacked.begin(pod, { script: 'exec sleep 1000', linux });
  const byExec = await exec(running, 'sh', '-c', script);
  await attacked.remove(pod.podSandboxId);
  return [out, byExec];
}

for (const handler of OCI_RUNTIMES) {
  test(`${handler}: the processes of containers and of execs have only three descriptors`, async () => {
    for (const out of await inBoth(handler, 'ls /proc/$$/fd; true')) assert.equal(out, '0\n1\n2\n');
  });

  test(`${handler}: no capability is inheritable or ambient, and there are only requested groups`, async () => {
    const script = 'grep -E "^(CapInh|CapAmb|Groups|NoNewPrivs)" /proc/$$/status; true';
    const user = { runAsUser: { value: 1234n }, runAsGroup: { value: 1234n }, supplementalGroups: [77n] };
    const securityContext = { ...ownPid, ...user, noNewPrivs: true };
    for (const out of await inBoth(handler, script, { securityContext })) {
      assert.match(out, /^CapInh:\t0+$/m);
      assert.match(out, /^CapAmb:\t0+$/m);
      assert.deepEqual(/^Groups:\t(.*)$/m.exec(out)![1]!.trim().split(' ').sort(), ['1234', '77']);
      assert.match(out, /^NoNewPrivs:\t1$/m);
    }
  });

  test(`${handler}: a working directory that is a descriptor of the OCI runtime leads nowhere (CVE-2024-21626)`, async () => {
    const pod = await attacked.pod(`cwd-${handler}`, { handler });
    for (let descriptor = 3; descriptor < 12; descriptor++) {
      const container = {
        script: `cat ${'../'.repeat(12)}${marker.slice(1)}`,
        workingDir: `/proc/self/fd/${descriptor}`,
      };
      const { out } = await attacked.run(pod, container).catch(() => ({ out: '' }));
      assert.equal(out, '', `descriptor ${descriptor}`);
    }
    await attacked.remove(pod.podSandboxId);
  });

  test(`${handler}: masked paths are empty, and read-only paths are not writable, whatever the image contains`, async () => {
    const entries: FixtureEntry[] = [
      symlink('dev/null', '/proc/sys/kernel/core_pattern'),
      symlink('dev/console', marker),
      symlink('dev/ptmx', marker),
      { name: 'dev/pts/0', body: '' },
      { name: 'proc/kcore', body: 'of the image' },
    ];
    const image = await attacked.image(`devices-${handler}`, entries);
    const paths = { maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'] };
    const readonlyPaths = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq'];
    const securityContext = { ...ownPid, ...paths, readonlyPaths };
    const script = `
      cat ${paths.maskedPaths.slice(0, 3).join(' ')} 2>/dev/null | wc -c; ls /sys/firmware | wc -l
      for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/panic; do echo '|/x' > $file && echo written; done 2>/dev/null
      for file in /dev/null ${paths.maskedPaths.slice(0, 3).join(' ')}; do echo '|/x' > $file; done 2>/dev/null
      echo '|/x' > /dev/console; test -c /dev/null && stat -c %t:%T /dev/null`;
    const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    const pod = await attacked.pod(`masked-${handler}`, { handler });
    for (const tty of [false, true]) {
      const { out } = await attacked.run(pod, { image: { image }, script, linux: { securityContext }, tty });
      assert.match(out.replaceAll('\r', ''), /^0\n0\n(\|\/x\n)?1:3\n$/, tty ? 'on a terminal' : '');
      assert.equal(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'), before);
      assert.equal(readFileSync(marker, 'utf8'), 'of the host');
    }
    await attacked.remove(pod.podSandboxId);
  });
}

test('a container cannot overwrite the OCI runtime that starts it (CVE-2019-5736)', async () => {
  const directory = join(attacked.runtime.place.directory, 'logs');
  const copies = OCI_RUNTIMES.map((name) => [name, join(directory, name)] as const);
  for (const [name, copy] of copies) copyFileSync(requireProgram(name), copy);
  const before = copies.map(([, copy]) => readFileSync(copy));
  const handlers = Object.fromEntries(
    copies.map(([name, program]) => [`copied-${name}`, { task: 'oci', program, sandbox: 'pinned' }]),
  );
  await attacked.runtime.stop();
  await attacked.runtime.start({ handlers }, { load: false });
  const image = await attacked.image('self', [{ name: 'self', mode: 0o755, body: '#!/proc/self/exe\n' }]);
  // opens the executables of processes that are starting, and writes to them once they have exec'd the container's program
  const script = `while :; do for exe in /proc/[0-9]*/exe; do
    ( exec 5<$exe && { sleep 0.05; echo overwritten > /proc/self/fd/5; } ) 2>/dev/null; done; done`;
  for (const [name] of copies) {
    const pod = await attacked.pod(`self-${name}`, { handler: `copied-${name}` });
    const containerId = await attacked.begin(pod, { image: { image }, script });
    for (let round = 0; round < 5; round++) await exec(containerId, '/self').catch(() => undefined);
    await attacked.run(pod, { image: { image }, script: 'true', command: ['/self'] }).catch(() => undefined);
    await attacked.remove(pod.podSandboxId);
  }
  for (const [index, [name, copy]] of copies.entries()) assert.ok(readFileSync(copy).equals(before[index]!), name);
});

test("a pod cannot reach the host's abstract sockets, and the runtime has none in the host's namespace (CVE-2020-15257)", async () => {
  const name = `podwright-test-${process.pid}`;
  const server = createServer().listen(`\0${name}`);
  try {
    const [own, shared] = [await attacked.pod('sockets'), await attacked.pod('host-sockets', hostNetwork())];
    const script = 'grep -o "@.*" /proc/net/unix; true';
    assert.equal((await attacked.run(own, { script })).out, '');
    const { out } = await attacked.run(shared, {
      script,
      linux: { securityContext: hostNetwork().linux.securityContext },
    });
    assert.match(out, new RegExp(`^@${name}`, 'm'), "a pod on the host's network has the host's sockets");
    assert.doesNotMatch(out, new RegExp(`${attacked.runtime.place.directory}|containerd-shim|conmon`));
  } finally {
    server.close();
  }
});

const hostNetwork = () => ({
  linux: { securityContext: { namespaceOptions: { network: NamespaceMode.NODE, pid: NamespaceMode.CONTAINER } } },
});
