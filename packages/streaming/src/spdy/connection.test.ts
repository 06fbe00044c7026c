import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { SpdyConnection } from './connection.ts';
import type { SpdyStream } from './stream.ts';

function pair(onStream: (stream: SpdyStream) => 'accept' | 'refuse') {
  const [here, there] = duplexPair();
  return {
    client: new SpdyConnection(here, { role: 'client' }),
    server: new SpdyConnection(there, { role: 'server', onStream }),
  };
}

const echo = (stream: SpdyStream) => {
  stream.pipe(stream);
  return 'accept' as const;
};

test('bytes written to a stream come back, and each half ends on its own', async () => {
  const { client } = pair(echo);
  const stream = await client.open({ streamtype: 'stdin' });
  stream.end('hello');
  assert.equal(await text(stream), 'hello');
});

test('the other side sees the headers of a stream in lower case', async () => {
  const seen: object[] = [];
  const { client } = pair((stream) => {
    seen.push(stream.headers);
    return 'accept';
  });
  await client.open({ streamType: 'error', port: '80' });
  await client.open({ streamType: 'data', port: '80' });
  assert.deepEqual(seen, [
    { streamtype: 'error', port: '80' },
    { streamtype: 'data', port: '80' },
  ]);
});

test('a refused stream rejects where it was opened', async () => {
  const { client } = pair(() => 'refuse');
  await assert.rejects(client.open({ streamtype: 'x' }), { code: 'cancelled' });
});

test('ten megabytes come back whole through many frames', async () => {
  const { client } = pair(echo);
  const stream = await client.open({ streamtype: 'stdin' });
  const sent = Buffer.alloc(10 << 20, 'abcdefghij');
  stream.end(sent);
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  assert.ok(Buffer.concat(chunks).equals(sent));
});

test('streams end when the connection is cut', async () => {
  const { client, server } = pair(echo);
  const stream = await client.open({ streamtype: 'stdin' });
  const ended = text(stream);
  server.destroy();
  client.destroy();
  await ended;
  await client.closed;
  assert.equal(client.streams.size, 0);
});

test('bytes that are not SPDY end the connection', async () => {
  const [here, there] = duplexPair();
  const server = new SpdyConnection(there, { role: 'server' });
  here.write(Buffer.from('80020001000000ff', 'hex'));
  await server.closed;
});
