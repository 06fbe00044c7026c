import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { limitStrangers } from './stranger-connections.ts';

test('limits a local user’s connections until the user is authenticated', async (t) => {
  const { onListening, onAuthenticated } = limitStrangers();
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket.on('error', () => undefined));
    socket.write('x');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onListening(server);
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  t.after(() => {
    for (const socket of [...clients, ...accepted]) socket.destroy();
    server.close();
  });
  /** Opens a connection, sends the message if there is one, and returns whether the server left the connection open. */
  const isServed = (message?: string) => {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    if (message !== undefined) client.write(message);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    client.once('data', () => resolve(true)).once('error', () => resolve(false));
    return promise;
  };
  for (let count = 0; count < 10; count++) void isServed(); // the kernel holds them back
  const served = async () => {
    const results = await Promise.all(Array.from({ length: 300 }, () => isServed('hello')));
    return results.filter(Boolean).length;
  };
  const first = await served();
  assert.ok(first >= 50 && first < 250, `${first} connections were served`);
  assert.equal(accepted.length, first);
  onAuthenticated(accepted[0]!);
  assert.equal(await served(), 300);
});
