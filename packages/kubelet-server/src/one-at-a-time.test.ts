import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { withListener } from './http-server.ts';

const headOf = (path: string, ...lines: string[]) =>
  `${[`GET ${path} HTTP/1.1`, 'host: x', ...lines].join('\r\n')}\r\n\r\n`;

/** Starts a server and connects a client to it. The test itself decides when each of the server's responses ends. */
async function start(t: TestContext) {
  const begun: string[] = [];
  const responses: ServerResponse[] = [];
  const server = withListener(createServer(), {
    handle: ({ url = '' }, response) => {
      begun.push(url);
      responses.push(response);
      response.write('begun\n');
    },
    upgrades: () => true,
    upgrade: ({ url = '' }, socket) => {
      begun.push(`upgrade ${url}`);
      socket.destroy();
    },
  });
  server.listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => client.destroy());
  client.on('error', () => undefined).resume();
  const until = (count: number) =>
    waitFor(() => begun.length === count || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  return { begun, responses, client, until };
}

test('requests and an upgrade start in order, each once the previous responses have finished', async (t) => {
  const { begun, responses, client, until } = await start(t);
  client.write(headOf('/1') + headOf('/2') + headOf('/3', 'connection: upgrade', 'upgrade: x'));
  for (const count of [1, 2]) {
    await until(count);
    responses[count - 1]!.end();
  }
  await until(3);
  assert.deepEqual(begun, ['/1', '/2', 'upgrade /3']);
});

test('a waiting request is not started after its client disconnects', async (t) => {
  const { begun, responses, client, until } = await start(t);
  client.write(headOf('/1') + headOf('/2'));
  await until(1);
  const [first] = responses as [ServerResponse];
  const closed = once(first, 'close');
  client.destroy();
  await closed;
  first.end();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.deepEqual(begun, ['/1']);
});

test('a client with an upgrade waiting for an endless response is disconnected', async (t) => {
  const { begun, client } = await start(t);
  client.write(headOf('/1') + headOf('/2', 'connection: upgrade', 'upgrade: x'));
  await once(client, 'close');
  assert.deepEqual(begun, ['/1']);
});
