import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeAttributes, hasErrno, NetlinkSockets, requestFlags, text } from '@podwright/system';

// linux/rtnetlink.h and linux/if_link.h
const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_GETLINK = 18;
const IFLA_IFNAME = 3;
const IFLA_LINKINFO = 18;
const IFLA_INFO_KIND = 1;
const noHeader = Buffer.alloc(16);
const named = (name: string) => [[IFLA_IFNAME, text(name)]] as const;

test('links are asked for, made and removed; errors have the request and the words of the kernel', async () => {
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
    const gone = await socket.request([remove]).catch((error: unknown) => error);
    assert.ok(hasErrno(gone, 'ENODEV'));
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

test('a hundred batches at once are each answered', async () => {
  const socket = new NetlinkSockets().open('route');
  const look = { what: 'look for lo', type: RTM_GETLINK, body: noHeader, attributes: named('lo') };
  const all = await Promise.all(Array.from({ length: 100 }, () => socket.request([look, look])));
  assert.ok(all.every((answers) => answers.every(([lo]) => lo!.body.readInt32LE(4) === 1)));
  socket.close();
});
