import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { filterConnections } from './accept-filter.ts';

const CLIENTS = 60;

for (const host of ['127.0.0.1', '::1'])
  test(`connections that are not allowed are reset, and those between them are served, on ${host}`, async (t) => {
    const served: Socket[] = [];
    const server = createServer((socket) => served.push(socket.on('error', () => undefined).end('hello')));
    server.listen(0, host);
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const seen: unknown[] = [];
    filterConnections(server, ({ localAddress, localPort, remoteAddress, remotePort }) => {
      assert.ok(remotePort! > 0);
      return seen.push([localAddress, localPort, remoteAddress]) % 5 === 0;
    });
    const clients = Array.from({ length: CLIENTS }, () => {
      const socket = connect(port, host).setEncoding('latin1');
      const client = { socket, received: '' };
      const append = (text: string) => {
        client.received += text;
      };
      socket.on('data', append).on('error', ({ code }: NodeJS.ErrnoException) => append(code!));
      return client;
    });
    const closed = () => clients.every(({ socket }) => socket.closed) || undefined;
    await waitFor(closed, { intervalMs: 1, signal: AbortSignal.timeout(5000) });
    const received = clients.map((client) => client.received).sort();
    const most = Array<string>((CLIENTS * 4) / 5).fill('ECONNRESET');
    assert.deepEqual(received, [...most, ...Array<string>(CLIENTS / 5).fill('hello')]);
    assert.equal(served.length, CLIENTS / 5);
    assert.deepEqual(seen, Array(CLIENTS).fill([host, port, host]));
  });
