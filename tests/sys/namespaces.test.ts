import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { silentLogger, waitFor } from '@podwright/base';
import { mountsBelow } from '../../packages/system/src/mountinfo.ts';
import {
  createNamespaces,
  preparePinDirectory,
  removeNamespace,
  setUpNamespaces,
  withNetworkNamespace,
} from '../../packages/system/src/namespaces.ts';
import { loadSystem } from '../../packages/system/src/system.ts';

const system = loadSystem();
const dependencies = { system, logger: silentLogger };
const kinds = ['net', 'ipc', 'uts'] as const;
let scratch: string;
let pins: string;

beforeEach(() => {
  scratch = mkdtempSync('/var/tmp/podwright-sys-');
  pins = join(scratch, 'pins');
  preparePinDirectory(system, pins);
});
afterEach(() => {
  for (const { mountPoint } of mountsBelow(scratch).reverse()) system.unmount(mountPoint);
  rmSync(scratch, { recursive: true });
});

const home = () => kinds.map((kind) => readlinkSync(`/proc/thread-self/ns/${kind}`)).join(' ');
const pinnedAt = (name: string) => ({
  net: join(pins, `${name}-net`),
  ipc: join(pins, `${name}-ipc`),
  uts: join(pins, `${name}-uts`),
});
const inside = (name: string, ...command: string[]) => {
  const { net, ipc, uts } = pinnedAt(name);
  return execFileSync('nsenter', [`--net=${net}`, `--ipc=${ipc}`, `--uts=${uts}`, ...command], {
    encoding: 'utf8',
  }).trim();
};
const remove = (name: string) => {
  for (const path of Object.values(pinnedAt(name))) removeNamespace(system, path);
};

test('namespaces are created with host name, loopback and sysctls, and this process stays in its own', () => {
  const before = home();
  const hostname = readFileSync('/proc/sys/kernel/hostname', 'utf8');
  const sysctls = {
    'net.ipv4.ip_unprivileged_port_start': '0',
    'kernel.shmmax': '65536',
    'net/ipv4/conf/lo/rp_filter': '2',
  };
  createNamespaces(dependencies, { ...pinnedAt('a'), hostname: 'a-pod', sysctls });
  assert.equal(home(), before);
  assert.equal(readFileSync('/proc/sys/kernel/hostname', 'utf8'), hostname);
  assert.equal(inside('a', 'hostname'), 'a-pod');
  assert.match(inside('a', 'ip', '-4', 'addr', 'show', 'lo'), /127\.0\.0\.1\/8/);
  assert.equal(inside('a', 'cat', '/proc/sys/net/ipv4/ip_unprivileged_port_start'), '0');
  assert.equal(inside('a', 'cat', '/proc/sys/net/ipv4/conf/lo/rp_filter'), '2');
  assert.equal(inside('a', 'cat', '/proc/sys/kernel/shmmax'), '65536');
});

test('existing namespaces get a host name and sysctls, and this process stays in its own', () => {
  const before = home();
  createNamespaces(dependencies, { ...pinnedAt('late'), sysctls: { 'net.ipv4.ip_unprivileged_port_start': '0' } });
  const sysctls = { 'net.ipv4.ip_forward': '1', 'kernel.shmmax': '1048576' };
  setUpNamespaces(dependencies, { ...pinnedAt('late'), hostname: 'late-pod', sysctls });
  assert.equal(home(), before);
  assert.equal(inside('late', 'hostname'), 'late-pod');
  assert.equal(inside('late', 'cat', '/proc/sys/net/ipv4/ip_forward'), '1');
  assert.equal(inside('late', 'cat', '/proc/sys/net/ipv4/ip_unprivileged_port_start'), '0');
  assert.equal(inside('late', 'cat', '/proc/sys/kernel/shmmax'), '1048576');
  const bad = { ...pinnedAt('late'), sysctls: { 'kernel.panic': '1' } };
  assert.throws(() => setUpNamespaces(dependencies, bad), { code: 'invalid_argument' });
  assert.throws(() => setUpNamespaces(dependencies, { ...pinnedAt('none'), hostname: 'x' }), { code: 'not_found' });
  remove('late');
});

test('only the requested namespaces are created', () => {
  const path = join(pins, 'only-net');
  createNamespaces(dependencies, { net: path });
  const own = execFileSync('nsenter', [
    `--net=${path}`,
    'sh',
    '-c',
    'readlink /proc/self/ns/ipc /proc/self/ns/uts /proc/self/ns/net',
  ]);
  const [ipc, uts, net] = own.toString().trim().split('\n');
  assert.equal(`${net} ${ipc} ${uts}`.replace(net!, readlinkSync('/proc/self/ns/net')), home());
  assert.notEqual(net, readlinkSync('/proc/self/ns/net'));
});

test('children and other threads stay in the host’s namespaces, both during the work and afterwards', async () => {
  const before = home();
  const source = `const { parentPort } = require('node:worker_threads'); const { readlinkSync } = require('node:fs');
    const seen = new Set(); const timer = setInterval(() => seen.add(readlinkSync('/proc/thread-self/ns/net')), 1);
    parentPort.on('message', () => { clearInterval(timer); parentPort.postMessage([...seen]); parentPort.close(); });`;
  const worker = new Worker(source, { eval: true });
  for (let index = 0; index < 50; index++) {
    createNamespaces(dependencies, pinnedAt(String(index)));
    if (index % 10 === 0) {
      const child = spawn('readlink', ['/proc/self/ns/net', '/proc/self/ns/ipc', '/proc/self/ns/uts']);
      const [output] = (await child.stdout.toArray()).map(String);
      assert.equal(output?.trim().split('\n').join(' '), before);
    }
  }
  worker.postMessage('stop');
  const seen = await new Promise((resolve) => worker.once('message', resolve));
  assert.deepEqual(seen, [readlinkSync('/proc/self/ns/net')]);
});

test('pinned namespaces outlive the process that created them', () => {
  const script = `
    import { createNamespaces } from '${import.meta.resolve('../../packages/system/src/namespaces.ts')}';
    import { loadSystem } from '${import.meta.resolve('../../packages/system/src/system.ts')}';
    createNamespaces({ system: loadSystem(), logger: console }, ${JSON.stringify({ ...pinnedAt('b'), hostname: 'outlives' })});
    process.kill(process.pid, 'SIGKILL');`;
  assert.throws(() => execFileSync(process.execPath, ['--input-type=module', '-e', script]), { signal: 'SIGKILL' });
  assert.equal(inside('b', 'hostname'), 'outlives');
});

test('creating and removing five hundred namespaces leaves nothing behind', async () => {
  const count = () =>
    execFileSync('lsns', ['--noheadings', '--output', 'NS', '--type', 'net'], { encoding: 'utf8' }).split('\n').length;
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = { namespaces: count(), descriptors: descriptors(), mounts: mountsBelow(pins).length };
  const times: number[] = [];
  for (let index = 0; index < 500; index++) {
    const startMs = performance.now();
    createNamespaces(dependencies, { ...pinnedAt('c'), hostname: `pod-${index}` });
    times.push(performance.now() - startMs);
    remove('c');
  }
  assert.equal(mountsBelow(pins).length, before.mounts);
  assert.equal(descriptors(), before.descriptors);
  assert.deepEqual(readdirSync(pins), []);
  const signal = AbortSignal.timeout(10_000);
  await waitFor(() => (count() <= before.namespaces + 5 ? true : undefined), { intervalMs: 50, signal });
  const median = times.sort((a, b) => a - b)[250]!;
  assert.ok(median < 10, `the median is ${median} ms`);
});

test('a failure leaves neither pins nor files, and does not touch existing ones', () => {
  const before = home();
  const paths = pinnedAt('d');
  writeFileSync(paths.uts, 'in the way');
  assert.throws(() => createNamespaces(dependencies, paths), { code: 'already_exists' });
  assert.deepEqual(readdirSync(pins), ['d-uts']);
  assert.throws(() => createNamespaces(dependencies, { ...pinnedAt('e'), hostname: 'x'.repeat(65) }), {
    code: 'invalid_argument',
  });
  assert.throws(
    () => createNamespaces(dependencies, { net: pinnedAt('e').net, sysctls: { 'net.no_such_thing': '1' } }),
    {
      code: 'not_found',
    },
  );
  assert.deepEqual(readdirSync(pins), ['d-uts']);
  assert.equal(home(), before);
});

test('a process that cannot return to its namespaces is aborted at once', () => {
  const script = `
    import { createNamespaces } from '${import.meta.resolve('../../packages/system/src/namespaces.ts')}';
    import { loadSystem } from '${import.meta.resolve('../../packages/system/src/system.ts')}';
    const system = loadSystem();
    system.setNamespace = () => { throw new Error('no way back'); };
    const logger = { error: (fields, message) => console.log(message, fields.error) };
    createNamespaces({ system, logger }, ${JSON.stringify(pinnedAt('g'))});
    console.log('still here');`;
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    cwd: scratch,
  });
  assert.equal(signal, 'SIGABRT');
  assert.equal(stdout.trim(), 'cannot return to the namespaces of the host, aborting no way back');
});

test('sysctls that would change the host are refused', () => {
  for (const name of [
    'kernel.panic',
    'net/../kernel/panic',
    'net..ipv4',
    'vm.swappiness',
    'kernel.shm/../panic',
    'kernel.hostname',
  ]) {
    assert.throws(() => createNamespaces(dependencies, { net: join(pins, 'x'), sysctls: { [name]: '1' } }), {
      code: 'invalid_argument',
    });
  }
  assert.throws(() => createNamespaces(dependencies, { net: join(pins, 'x'), sysctls: { 'kernel.shmmax': '1' } }), {
    code: 'invalid_argument',
  });
  assert.deepEqual(readdirSync(pins), []);
});

test('work runs in the network namespace, and the thread returns even after a failure', () => {
  const { net } = pinnedAt('f');
  createNamespaces(dependencies, { net });
  const before = home();
  const interfaces = withNetworkNamespace(dependencies, net, () => readFileSync('/proc/thread-self/net/dev', 'utf8'));
  assert.equal(interfaces.trim().split('\n').length, 3); // two header lines, and lo
  assert.throws(() => withNetworkNamespace(dependencies, net, () => assert.fail('work')), /work/);
  assert.throws(() => withNetworkNamespace(dependencies, net, async () => 1), /synchronous/);
  assert.throws(() => withNetworkNamespace(dependencies, join(pins, 'absent'), () => 1), { code: 'not_found' });
  assert.equal(home(), before);
});

test('the pin directory is private, and preparing it again is a no-op', () => {
  preparePinDirectory(system, pins);
  const mounts = mountsBelow(pins);
  assert.equal(mounts.length, 1);
  assert.deepEqual(mounts[0]!.propagation, []);
});

test('removing a missing pin, or a plain file, is not an error', () => {
  removeNamespace(system, join(pins, 'absent'));
  writeFileSync(join(pins, 'file'), '');
  removeNamespace(system, join(pins, 'file'));
  assert.equal(existsSync(join(pins, 'file')), false);
  mkdirSync(join(pins, 'sub'));
  assert.ok(statSync(join(pins, 'sub')).isDirectory());
});
