import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { bindIdMapped, mountAllIdMapped } from '../../packages/system/src/id-mapped-mounts.ts';
import { mountsBelow, unmountTree } from '../../packages/system/src/mountinfo.ts';
import { createOwnedNamespaces, preparePinDirectory } from '../../packages/system/src/namespaces.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { withMapping } from '../../packages/system/src/user-namespace.ts';

const system = loadSystem();
const dependencies = { system, logger: silentLogger };
const signal = new AbortController().signal;
const mapping = [{ containerId: 0, hostId: 100_000, length: 65_536 }];
const mappings = { uids: mapping, gids: mapping };
let scratch: string;
let pins: string;

beforeEach(() => {
  scratch = mkdtempSync('/var/tmp/podwright-users-');
  chmodSync(scratch, 0o711);
  pins = join(scratch, 'pins');
  preparePinDirectory(system, pins);
});
afterEach(() => {
  unmountTree(system, scratch);
  rmSync(scratch, { recursive: true });
});

const pinned = () => Object.fromEntries(['user', 'net', 'ipc', 'uts'].map((kind) => [kind, join(pins, kind)]));
const home = () => ['user', 'net', 'ipc', 'uts'].map((kind) => readlinkSync(`/proc/thread-self/ns/${kind}`)).join(' ');
const inside = (...command: string[]) => {
  const flags = Object.entries(pinned()).map(([kind, path]) => `--${kind}=${path}`);
  return execFileSync('nsenter', [...flags, ...command], { encoding: 'utf8' }).trim();
};

test('a user namespace owns the namespaces created with it, and leaves nothing behind in this process', async () => {
  const before = home();
  const sysctls = {
    'net.ipv4.ip_unprivileged_port_start': '0',
    'net.ipv4.ping_group_range': '0 2147483647',
    'kernel.shmmax': '65536',
  };
  const { user, net, ipc, uts } = pinned() as Record<'user' | 'net' | 'ipc' | 'uts', string>;
  await createOwnedNamespaces(dependencies, { user, net, ipc, uts, mappings, hostname: 'owned', sysctls }, signal);
  assert.equal(home(), before);
  assert.match(inside('cat', '/proc/self/uid_map'), /^\s*0\s+100000\s+65536$/);
  assert.match(inside('cat', '/proc/self/gid_map'), /^\s*0\s+100000\s+65536$/);
  assert.equal(inside('cat', '/proc/sys/net/ipv4/ip_unprivileged_port_start'), '0');
  assert.equal(inside('cat', '/proc/sys/kernel/shmmax'), '65536');
  // root in the user namespace may modify the namespaces owned by it
  assert.equal(inside('sh', '-c', 'hostname renamed && hostname'), 'renamed');
  assert.match(inside('sh', '-c', 'ip link add bridge9 type bridge && ip -o link show bridge9'), /bridge9/);
});

test('a failure leaves no pins', async () => {
  const { user, net } = pinned() as Record<'user' | 'net', string>;
  const make = (change: object) => createOwnedNamespaces(dependencies, { user, net, mappings, ...change }, signal);
  await assert.rejects(make({ sysctls: { 'net.no_such_thing': '1' } }), { code: 'not_found' });
  await assert.rejects(make({ sysctls: { 'vm.swappiness': '1' } }), { code: 'invalid_argument' });
  await assert.rejects(make({ mappings: { uids: [...mapping, ...mapping], gids: mapping } }), /map the ids/);
  await assert.rejects(
    createOwnedNamespaces(dependencies, { user, net, mappings }, AbortSignal.abort(new Error('cancelled'))),
    /cancelled/,
  );
  assert.deepEqual(readdirSync(pins), []);
});

test('an ID-mapped copy of a mount shows its files as owned by users in the namespace', async () => {
  const [source, target] = [join(scratch, 'source'), join(scratch, 'target')];
  mkdirSync(source);
  mkdirSync(target);
  writeFileSync(join(source, 'file'), 'x');
  await withMapping(mappings, (descriptor) =>
    bindIdMapped(system, { source, target, descriptor, propagation: 'private' }),
  );
  assert.equal(statSync(join(target, 'file')).uid, 100_000);
  assert.equal(statSync(join(source, 'file')).uid, 0);
  assert.deepEqual(mountsBelow(target)[0]?.propagation, []);
});

test('a layered root file system belongs to the users of the namespace, and the layers remain unchanged', async () => {
  const directory = (name: string) => {
    mkdirSync(join(scratch, name), { recursive: true });
    return join(scratch, name);
  };
  const layers = ['layers/1/fs', 'layers/2/fs'].map(directory);
  const [upper, work, target] = ['layers/3/fs', 'layers/3/work', 'place/rootfs'].map(directory) as [
    string,
    string,
    string,
  ];
  writeFileSync(join(layers[0]!, 'low'), 'low');
  writeFileSync(join(layers[1]!, 'high'), 'high');
  const options = [`lowerdir=${layers[1]}:${layers[0]}`, `upperdir=${upper}`, `workdir=${work}`];
  const descriptorOf = (work: (descriptor: number) => void) => withMapping(mappings, work);
  await descriptorOf((descriptor) =>
    mountAllIdMapped(system, [{ type: 'overlay', source: 'overlay', options }], {
      target,
      users: { descriptor, mappings },
    }),
  );
  assert.deepEqual(readdirSync(target).sort(), ['high', 'low']);
  assert.equal(statSync(target).uid, 100_000);
  assert.equal(statSync(join(target, 'low')).gid, 100_000);
  await withPinnedUser(async (enter) => {
    enter('sh', '-c', `echo more >> ${target}/low && echo new > ${target}/new && chown 7:8 ${target}/new`);
  });
  assert.equal(readFileSync(join(layers[0]!, 'low'), 'utf8'), 'low');
  assert.equal(lstatSync(join(upper, 'low')).uid, 100_000);
  assert.deepEqual([lstatSync(join(upper, 'new')).uid, lstatSync(join(upper, 'new')).gid], [100_007, 100_008]);
  assert.deepEqual(readdirSync(join(scratch, 'place')), ['rootfs']);
  assert.equal(mountsBelow(join(scratch, 'place')).length, 1);
});

test('an image with a huge number of layers is mapped too', async () => {
  const layers = Array.from({ length: 128 }, (_, index) => join(scratch, `snapshots/overlayfs/${index}/fs`));
  for (const layer of layers) {
    mkdirSync(layer, { recursive: true });
    writeFileSync(join(layer, `of-${layers.indexOf(layer)}`), '');
  }
  const target = join(scratch, 'containers', 'c'.repeat(64), 'rootfs');
  mkdirSync(target, { recursive: true });
  const mount = { type: 'overlay', source: 'overlay', options: ['ro', `lowerdir=${layers.join(':')}`] };
  await withMapping(mappings, (descriptor) =>
    mountAllIdMapped(system, [mount], { target, users: { descriptor, mappings } }),
  );
  assert.equal(readdirSync(target).length, 128);
  assert.equal(statSync(join(target, 'of-127')).uid, 100_000);
});

async function withPinnedUser(work: (enter: (...command: string[]) => void) => Promise<void>): Promise<void> {
  const user = join(pins, 'user');
  await createOwnedNamespaces(dependencies, { user, mappings }, signal);
  await work((...command) => execFileSync('nsenter', [`--user=${user}`, ...command]));
}

test('a file system that cannot be ID-mapped is rejected with advice', async () => {
  const target = join(scratch, 'target');
  mkdirSync(target);
  const make = withMapping(mappings, (descriptor) =>
    bindIdMapped(system, { source: '/proc', target, descriptor, propagation: 'private' }),
  );
  await assert.rejects(make, { code: 'failed_precondition', message: /run the pod without a user namespace/ });
  assert.deepEqual(mountsBelow(target), []);
  const before = readdirSync('/proc/self/fd').length;
  closeSync(openSync('/proc', 'r'));
  assert.equal(readdirSync('/proc/self/fd').length, before);
});
