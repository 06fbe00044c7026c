import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { createPortDialer } from './port-dialer.ts';
import { loadSystem } from './system.ts';

const OWN_NETNS = '/proc/self/ns/net';

test('half-open connections reach a loopback port of either address family', async () => {
  const dial = createPortDialer({ system: loadSystem(), logger: silentLogger });
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      void text(socket).then((received) => socket.end(`${received} back`));
    }).listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = await dial(OWN_NETNS, port, AbortSignal.timeout(30_000));
    socket.end('there and');
    assert.equal(await text(socket), 'there and back', host);
    server.close();
    await once(server, 'close');
    await assert.rejects(dial(OWN_NETNS, port, AbortSignal.timeout(30_000)), { code: 'unavailable' }, host);
  }
});

test('a removed namespace is an error that includes its path', async () => {
  const dial = createPortDialer({ system: loadSystem(), logger: silentLogger });
  await assert.rejects(dial('/proc/1073741824/ns/net', 80, AbortSignal.timeout(30_000)), /1073741824/);
});
