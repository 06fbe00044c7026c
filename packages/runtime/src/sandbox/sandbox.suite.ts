import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, test } from 'node:test';
import { CONTAINER_FILE, waitFor } from '@podwright/base';
import { loadSystem, readMounts, unmountTree } from '@podwright/system';
import { newId } from '../records/ids.ts';
import type { SandboxConfig, SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxController, SandboxEnvironment } from './sandbox-controller.ts';

/** A sandbox controller under test. */
export type SandboxControllerUnderTest = {
  controller: SandboxController;
  /** Releases what the controller holds in this process, as the exit of the process would. The sandboxes remain. */
  close(): Promise<void>;
};

const signal = new AbortController().signal;
const PATIENCE_MS = 60_000;

const plain: SandboxConfig = {
  podName: 'web',
  podUid: 'uid',
  podNamespace: 'default',
  attempt: 0,
  hostname: 'web',
  logDirectory: '',
  dns: { servers: ['10.0.0.10', '10.0.0.11'], searches: ['a.test', 'b.test'], options: ['ndots:5', 'timeout:1'] },
  portMappings: [],
  labels: {},
  annotations: {},
  cgroupParent: '',
  network: 'pod',
  ipc: 'pod',
  pid: 'container',
  sysctls: {},
  privileged: false,
  runtimeHandler: '',
};

/** A sandbox to be created. By default, it has its own namespaces of all types. */
export function sandboxOf(config: Partial<SandboxConfig> = {}): SandboxRecord {
  const state = { phase: 'creating' } as const;
  return { id: newId(), name: 'web', config: { ...plain, ...config }, state, createdAtMs: 0, ips: [] };
}

/** Runs a program in namespaces of the sandbox and returns its output. `which`: the nsenter(1) options that select the namespaces. */
function inside(which: string[], ...command: string[]): string {
  return execFileSync('nsenter', [...which, '--', ...command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    .toString()
    .trim();
}

/** Returns the inode number that identifies the namespace at a path. */
const numberOf = (path: string | undefined) => statSync(path!, { bigint: true }).ino;

/** Host PID of the init process of the PID namespace at a path. */
function firstProcessOf(namespace: string): number {
  const link = `pid:[${numberOf(namespace)}]`;
  const isFirst = (pid: string) => {
    try {
      const numbers = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.split(/\s+/);
      return readlinkSync(`/proc/${pid}/ns/pid`) === link && numbers?.at(-1) === '1';
    } catch {
      return false; // it has just exited
    }
  };
  const found = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isFirst(name));
  assert.ok(found !== undefined, `there is a first process in ${namespace}`);
  return Number(found);
}

/**
 * Tests the contract of sandbox controllers. `open` opens a controller whose state is in the given directory, either empty or left by an
 * earlier controller. Requires root, `nsenter` and `ip`.
 */
export async function testSandboxController(
  open: (state: string) => Promise<SandboxControllerUnderTest>,
): Promise<void> {
  const state = mkdtempSync('/tmp/pwt-sandbox-');
  chmodSync(state, 0o711); // root of a user namespace is an unprivileged user here
  let opened = await open(state);
  after(async () => {
    for (const id of await opened.controller.list()) await opened.controller.remove(id);
    await opened.close();
    unmountTree(loadSystem(), state);
    rmSync(state, { recursive: true });
  });
  const current = () => opened.controller;
  const create = async (config: Partial<SandboxConfig> = {}) => {
    const sandbox = sandboxOf(config);
    await current().create(sandbox, signal);
    return sandbox;
  };
  const make = async (config: Partial<SandboxConfig> = {}) => {
    const sandbox = await create(config);
    await current().start(sandbox, signal);
    await current().setAddresses(sandbox, ['10.0.0.2', 'fd00::2']);
    return { sandbox, environment: current().environment(sandbox) };
  };
  /** Stops and removes a sandbox, and checks that nothing remains. */
  const end = async (sandbox: SandboxRecord, { namespaces, files }: SandboxEnvironment) => {
    await current().stop(sandbox.id);
    for (const path of Object.values(namespaces)) assert.ok(path === undefined || !existsSync(path), path);
    assert.deepEqual(
      readMounts().filter(({ mountPoint }) => mountPoint.includes(sandbox.id)),
      [],
    );
    await current().remove(sandbox.id);
    assert.ok(!existsSync(dirname(files.hosts)));
    assert.deepEqual(await current().list(), []);
  };
  const reopen = async () => {
    await opened.close();
    opened = await open(state);
  };

  test('a sandbox is alive until it is stopped, and is not listed once it is removed', async () => {
    const { sandbox, environment } = await make();
    assert.equal(environment.namespaces.network, current().netnsPath(sandbox));
    assert.deepEqual(await current().status(sandbox), { alive: true });
    assert.deepEqual(await current().list(), [sandbox.id]);
    await current().stop(sandbox.id);
    assert.equal((await current().status(sandbox)).alive, false);
    await end(sandbox, environment);
  });

  test('a pod has the configured files, and shared memory', async () => {
    const { sandbox, environment } = await make();
    const { files, shm } = environment;
    assert.equal(readFileSync(files.hostname, 'utf8'), 'web\n');
    assert.equal(
      readFileSync(files.resolvConf, 'utf8'),
      'search a.test b.test\nnameserver 10.0.0.10\nnameserver 10.0.0.11\noptions ndots:5 timeout:1\n',
    );
    assert.match(readFileSync(files.hosts, 'utf8'), /^127\.0\.0\.1\tlocalhost$/m);
    assert.match(readFileSync(files.hosts, 'utf8'), /^10\.0\.0\.2\tweb$/m);
    assert.match(readFileSync(files.hosts, 'utf8'), /^fd00::2\tweb$/m);
    const mount = readMounts().find(({ mountPoint }) => mountPoint === shm);
    assert.equal(mount?.type, 'tmpfs');
    assert.equal(statSync(shm).mode & 0o7777, 0o1777);
    await end(sandbox, environment);
  });

  test('a pod without a DNS configuration has the one of the host, readable by its users', async () => {
    const { sandbox, environment } = await make({ dns: undefined });
    const ofHost = existsSync('/etc/resolv.conf') ? readFileSync('/etc/resolv.conf', 'utf8') : '';
    assert.equal(readFileSync(environment.files.resolvConf, 'utf8'), ofHost);
    assert.equal(statSync(environment.files.resolvConf).mode & 0o777, CONTAINER_FILE);
    await end(sandbox, environment);
  });

  test('each pod has its own network, IPC and UTS namespaces, with the loopback interface up', async () => {
    const one = await make({ hostname: 'one' });
    const two = await make({ hostname: 'two' });
    for (const [kind, name] of [
      ['network', 'net'],
      ['ipc', 'ipc'],
      ['uts', 'uts'],
    ] as const) {
      const numbers = [one, two].map(({ environment }) => numberOf(environment.namespaces[kind]));
      assert.equal(new Set([...numbers, numberOf(`/proc/self/ns/${name}`)]).size, 3, kind);
    }
    const { uts, network } = two.environment.namespaces;
    assert.equal(inside([`--uts=${uts}`], 'hostname'), 'two');
    assert.match(inside([`--net=${network}`], 'ip', '-oneline', 'address', 'show', 'dev', 'lo'), /127\.0\.0\.1/);
    await current().remove(one.sandbox.id);
    await end(two.sandbox, two.environment);
  });

  test('a pod may use the network of the host, with its host name and hosts file, or its IPC, or both', async () => {
    const network = await make({ network: 'node' });
    assert.equal(current().netnsPath(network.sandbox), undefined);
    assert.equal(network.environment.namespaces.network, undefined);
    assert.equal(network.environment.namespaces.uts, undefined);
    assert.notEqual(network.environment.namespaces.ipc, undefined);
    assert.equal(readFileSync(network.environment.files.hosts, 'utf8'), readFileSync('/etc/hosts', 'utf8'));
    await end(network.sandbox, network.environment);
    const ipc = await make({ ipc: 'node' });
    assert.equal(ipc.environment.namespaces.ipc, undefined);
    assert.equal(ipc.environment.shm, '/dev/shm');
    assert.notEqual(ipc.environment.namespaces.network, undefined);
    await end(ipc.sandbox, ipc.environment);
    const both = await make({ network: 'node', ipc: 'node', pid: 'node' });
    assert.deepEqual(
      Object.values(both.environment.namespaces).filter((path) => path !== undefined),
      [],
    );
    assert.deepEqual(await current().status(both.sandbox), { alive: true });
    await end(both.sandbox, both.environment);
  });

  test('sysctls of the namespaces of the pod are set in them', async () => {
    const { sandbox, environment } = await make({
      sysctls: {
        'net.ipv4.ip_forward': '1',
        'net/core/somaxconn': '77',
        'kernel.msgmax': '12345',
        'fs.mqueue.msg_max': '9',
      },
    });
    const { network, ipc } = environment.namespaces;
    const read = (name: string) => inside([`--net=${network}`, `--ipc=${ipc}`], 'cat', `/proc/sys/${name}`);
    assert.equal(read('net/ipv4/ip_forward'), '1');
    assert.equal(read('net/core/somaxconn'), '77');
    assert.equal(read('kernel/msgmax'), '12345');
    assert.equal(read('fs/mqueue/msg_max'), '9');
    assert.equal(read('net/ipv4/ip_unprivileged_port_start'), '0');
    await end(sandbox, environment);
  });

  const refused: [string, Partial<SandboxConfig>][] = [
    ['vm.swappiness', {}],
    ['kernel.pid_max', {}],
    ['net.ipv4.ip_forward', { network: 'node' }],
    ['kernel.shmmax', { ipc: 'node' }],
    ['fs.mqueue.msg_max', { ipc: 'node' }],
    ['net.ipv4/../../vm/swappiness', {}],
  ];
  for (const [name, config] of refused) {
    test(`sysctl ${name} is rejected by name for ${JSON.stringify(config)}, and leaves nothing behind`, async () => {
      const sandbox = sandboxOf({ ...config, sysctls: { [name]: '1' } });
      const attempt = async () => {
        await current().create(sandbox, signal);
        await current().start(sandbox, signal);
      };
      const isRefusal = (error: Error & { code?: string }) =>
        error.code === 'invalid_argument' && error.message.includes(name);
      await assert.rejects(attempt(), isRefusal);
      await current().remove(sandbox.id);
      assert.deepEqual(await current().list(), []);
    });
  }

  test('containers can share a PID namespace of the pod, and the exit of its init ends the sandbox', async () => {
    const { sandbox } = await make({ pid: 'pod' });
    const [path, again] = await Promise.all([
      current().sharedPidNamespace(sandbox, signal),
      current().sharedPidNamespace(sandbox, signal),
    ]);
    assert.equal(numberOf(path), numberOf(again));
    assert.notEqual(numberOf(path), numberOf('/proc/self/ns/pid'));
    const lost = new Promise<string>((resolve) => {
      current().onLost((id, reason) => id === sandbox.id && resolve(reason));
    });
    process.kill(firstProcessOf(path), 'SIGKILL');
    assert.notEqual(await lost, '');
    assert.equal((await current().status(sandbox)).alive, false);
    await end(sandbox, current().environment(sandbox));
  });

  const mapping = [{ containerId: 0, hostId: 100_000, length: 65_536 }];
  const mapped = { userNamespace: { uids: mapping, gids: mapping }, pid: 'pod' } as const;
  const testUserNamespace = async () => {
    const { sandbox, environment } = await make(mapped);
    const { user, network } = environment.namespaces;
    assert.notEqual(numberOf(user), numberOf('/proc/self/ns/user'));
    const both = [`--user=${user}`, `--net=${network}`, '--setuid', '0', '--setgid', '0'];
    assert.match(inside(both, 'cat', '/proc/self/uid_map'), /^\s*0\s+100000\s+65536$/);
    inside(both, 'ip', 'link', 'set', 'lo', 'down'); // permitted only to the owner of the network namespace
    const path = await current().sharedPidNamespace(sandbox, signal);
    const first = firstProcessOf(path);
    assert.match(readFileSync(`/proc/${first}/uid_map`, 'utf8'), /^\s*0\s+100000\s+65536$/m);
    await end(sandbox, environment);
  };
  const testNoUserNamespace = async () => {
    const sandbox = sandboxOf(mapped);
    await assert.rejects(current().create(sandbox, signal), { code: 'failed_precondition' });
    await current().remove(sandbox.id);
    assert.deepEqual(await current().list(), []);
  };
  if (!opened.controller.makesUserNamespaces)
    test('a pod in a user namespace is rejected, and leaves nothing behind', testNoUserNamespace);
  else test('a pod in a user namespace has namespaces that belong to it', testUserNamespace);

  test('after a restart a sandbox is found, its loss is reported, and it can be removed', async () => {
    const { sandbox, environment } = await make({ pid: 'pod' });
    const number = numberOf(await current().sharedPidNamespace(sandbox, signal));
    await reopen();
    assert.deepEqual(await current().list(), [sandbox.id]);
    assert.deepEqual(current().environment(sandbox), environment);
    const path = await current().sharedPidNamespace(sandbox, signal);
    assert.equal(numberOf(path), number);
    const lost = new Promise<void>((resolve) => {
      current().onLost((id) => id === sandbox.id && resolve());
    });
    assert.deepEqual(await current().status(sandbox), { alive: true });
    process.kill(firstProcessOf(path), 'SIGKILL');
    await lost;
    await reopen();
    assert.equal((await current().status(sandbox)).alive, false);
    await end(sandbox, environment);
  });

  test('after a restart a running sandbox can be removed', async () => {
    const { sandbox, environment } = await make({ pid: 'pod' });
    const first = firstProcessOf(await current().sharedPidNamespace(sandbox, signal));
    await reopen();
    await end(sandbox, environment);
    const hasExited = async () => (existsSync(`/proc/${first}`) ? undefined : true);
    await waitFor(hasExited, { intervalMs: 10, signal: AbortSignal.timeout(PATIENCE_MS) });
  });

  test('stop and remove are idempotent, also for unknown sandboxes', async () => {
    const { sandbox } = await make();
    for (const id of [sandbox.id, newId()]) {
      await current().stop(id);
      await current().stop(id);
      await current().remove(id);
      await current().remove(id);
    }
    assert.deepEqual(await current().list(), []);
  });

  test('a sandbox that was created but not started can be removed', async () => {
    const sandbox = await create();
    await current().remove(sandbox.id);
    assert.deepEqual(await current().list(), []);
  });
}
