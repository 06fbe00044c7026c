import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import {
  decodeAttributes,
  hasErrno,
  listRoutes,
  loadSystem,
  NetlinkSockets,
  requestFlags,
  text,
  withNetworkNamespace,
} from '@podwright/system';

// Constants from linux/rtnetlink.h and linux/if_link.h.
const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_GETLINK = 18;
const IFLA_IFNAME = 3;
const IFLA_LINKINFO = 18;
const IFLA_INFO_KIND = 1;
const noHeader = Buffer.alloc(16);
const named = (name: string) => [[IFLA_IFNAME, text(name)]] as const;

test('links are found, created and removed; errors include the request and the kernel’s message', async () => {
  const socket = new NetlinkSockets().open('route');
  const kind = [[IFLA_LINKINFO, [[IFLA_INFO_KIND, text('bridge')]]]] as const;
  const make = { what: 'make it', type: RTM_NEWLINK, body: noHeader, attributes: [...named('pwt-netlink0'), ...kind] };
  const create = { ...make, flags: requestFlags.create | requestFlags.excl };
  const remove = { what: 'remove it', type: RTM_DELLINK, body: noHeader, attributes: named('pwt-netlink0') };
  try {
    const [found, made] = await socket.request([
      { what: 'look for lo', type: RTM_GETLINK, body: noHeader, attributes: named('lo') },
      create,
    ]);
    assert.equal(found![0]!.body.readInt32LE(4), 1);
    assert.deepEqual(made, []);
    await assert.rejects(socket.request([create]), { code: 'already_exists', message: /^make it: EEXIST/ });
    await socket.request([{ ...create, ignore: ['EEXIST'] }]);
    const [links] = await socket.request([
      { what: 'list links', type: RTM_GETLINK, flags: requestFlags.dump, body: noHeader },
    ]);
    const names = links!.map(({ body }) => decodeAttributes(body.subarray(16)).get(IFLA_IFNAME)!.toString());
    assert.ok(names.includes('pwt-netlink0\0') && names.includes('lo\0'));
    await socket.request([remove]);
    const missing = await socket.request([remove]).catch((error: unknown) => error);
    assert.ok(hasErrno(missing, 'ENODEV'));
    const unknown = { what: 'make a thing', type: RTM_NEWLINK, flags: requestFlags.create, body: noHeader };
    const nonsense = [[IFLA_LINKINFO, [[IFLA_INFO_KIND, text('no-such-kind')]]]] as const;
    await assert.rejects(
      socket.request([{ ...unknown, attributes: nonsense }]),
      /make a thing: E\w+ .*: Unknown device type/,
    );
  } finally {
    await socket.request([{ ...remove, ignore: ['ENODEV'] }]);
    socket.close();
  }
  await assert.rejects(socket.request([remove]), { code: 'failed_precondition' });
});

test('a hundred simultaneous batches are all answered', async () => {
  const socket = new NetlinkSockets().open('route');
  const look = { what: 'look for lo', type: RTM_GETLINK, body: noHeader, attributes: named('lo') };
  const all = await Promise.all(Array.from({ length: 100 }, () => socket.request([look, look])));
  assert.ok(all.every((answers) => answers.every(([lo]) => lo!.body.readInt32LE(4) === 1)));
  socket.close();
});

test('a list that the kernel could not complete is an error', async () => {
  const socket = new NetlinkSockets().open('route');
  const unknownNamespace = [[46, Buffer.from([0x39, 0x30, 0, 0])]] as const; // IFLA_TARGET_NETNSID
  const list = { what: 'list links', type: RTM_GETLINK, flags: requestFlags.dump, body: noHeader };
  await assert.rejects(socket.request([{ ...list, attributes: unknownNamespace }]), {
    message: /^list links: EINVAL/,
  });
  assert.ok((await socket.request([list]))[0]!.length > 0);
  socket.close();
});

test('a long list is read without blocking the event loop', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-netlink-'));
  const namespace = join(directory, 'net');
  writeFileSync(namespace, '');
  const routes = Array.from({ length: 20_000 }, (_, n) => `route add 10.0.${n >> 8}.${n & 255}/32 dev lo`);
  execFileSync('unshare', [`--net=${namespace}`, 'sh', '-c', 'ip link set lo up; ip -batch -'], {
    input: routes.join('\n'),
  });
  const parts = { system: loadSystem(), logger: silentLogger };
  const socket = withNetworkNamespace(parts, namespace, () => new NetlinkSockets().open('route'));
  try {
    const begin = performance.now();
    let [last, longest] = [begin, 0];
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const [answers] = await socket.request([listRoutes()]);
    clearInterval(timer);
    longest = Math.max(longest, performance.now() - last);
    assert.ok(answers!.length >= 20_000);
    const whole = performance.now() - begin;
    assert.ok(longest < whole / 2, `${longest} of ${whole} ms without a turn of the event loop`);
  } finally {
    socket.close();
    execFileSync('umount', [namespace]);
    rmSync(directory, { recursive: true });
  }
});

test('a request sent before the socket was closed is answered, and a later one is rejected', async () => {
  const socket = new NetlinkSockets().open('route');
  const list = { what: 'list links', type: RTM_GETLINK, flags: requestFlags.dump, body: noHeader };
  const before = socket.request([list]);
  await new Promise(setImmediate);
  socket.close();
  assert.ok((await before)[0]!.length > 0);
  await assert.rejects(socket.request([list]), { code: 'failed_precondition' });
});
