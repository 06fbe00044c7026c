import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { Http2Connection } from './http2-connection.ts';

const SIGNAL = AbortSignal.timeout(60_000);
const POST = { method: 'POST', path: '/', headers: {}, body: '{}' };

test('a response that has fully arrived before the caller reads it can still be read', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('stream', (stream) => {
    stream.respond({ ':status': 201 });
    stream.resume().on('end', () => stream.end('created'));
  });
  const { port } = server.address() as AddressInfo;
  const ignore = () => undefined;
  const options = { origin: `http://127.0.0.1:${port}`, onClosed: ignore, onIdle: ignore };
  const connection = await Http2Connection.over(connect(port, '127.0.0.1'), options, SIGNAL);
  using undo = new DisposableStack();
  undo.defer(() => server.close());
  undo.defer(() => connection.destroy());
  const first = await connection.send(POST, SIGNAL);
  const second = await connection.send(POST, SIGNAL);
  assert.equal(await text(second.body), 'created'); // the first response is older
  assert.equal(await text(first.body), 'created');
  assert.ok(first.isWhole());
});
