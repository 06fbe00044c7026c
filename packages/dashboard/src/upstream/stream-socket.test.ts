import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { WebSocket } from 'ws';
import { ServedDashboard } from '../served-dashboard.fixture.ts';

const PROTOCOL = 'podwright.stream.v1';
const streamOf = (path: string, accept = '') =>
  `/dashboard/stream?path=${encodeURIComponent(path)}${accept && `&accept=${encodeURIComponent(accept)}`}`;

/** Resolves to the WebSocket's first message, the text of its binary messages, and the server's close code. */
async function readAll(socket: WebSocket): Promise<{ first: unknown; body: string; code: number }> {
  const messages: { text: string; binary: boolean }[] = [];
  socket.on('message', (data, binary) => messages.push({ text: String(data), binary }));
  const [code] = (await once(socket, 'close')) as [number];
  const body = messages.filter(({ binary }) => binary).map(({ text }) => text);
  return { first: JSON.parse(messages[0]!.text), body: body.join(''), code };
}

async function refusal(socket: WebSocket): Promise<number> {
  socket.on('error', () => undefined);
  const [, response] = await once(socket, 'unexpected-response');
  socket.terminate();
  return response.statusCode;
}

test('a response is sent as its status and body, then the WebSocket is closed with 1000', async (t) => {
  const dashboard = await ServedDashboard.start(t, (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json;stream=watch' });
    response.write('{"type":');
    setImmediate(() => response.end(`"${request.headers.accept}"}\n`));
  });
  const headers = await dashboard.logIn();
  const path = '/api/v1/pods?watch=true&resourceVersion=5';
  const socket = dashboard.open(streamOf(path, 'application/json;as=Table'), [PROTOCOL], headers);
  assert.deepEqual(await readAll(socket), {
    first: { status: 200, contentType: 'application/json;stream=watch' },
    body: '{"type":"application/json;as=Table"}\n',
    code: 1000,
  });
  assert.equal(dashboard.seen[0]!.url, path);
});

test('a slow page pauses the API server’s stream, and later receives all of it', async (t) => {
  const chunk = Buffer.alloc(64 << 10, 'x');
  const chunks = 640;
  let written = 0;
  const dashboard = await ServedDashboard.start(t, async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (; written < chunks; written++) if (!response.write(chunk)) await once(response, 'drain');
    response.end();
  });
  const socket = dashboard.open(streamOf('/api/v1/namespaces/a/pods/b/log'), [PROTOCOL], await dashboard.logIn());
  let bytes = 0;
  socket.on('message', (data: Buffer, binary) => {
    if (binary) bytes += data.length;
  });
  await once(socket, 'open');
  socket.pause();
  let before = -1;
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(written < chunks / 2, `${written} chunks are queued`);
  socket.resume();
  await once(socket, 'close');
  assert.equal(bytes, chunk.length * chunks);
});

test('the WebSocket is closed with 1011 if the connection to the API server is lost', async (t) => {
  const dashboard = await ServedDashboard.start(t, (request, response) => {
    if (request.url === '/version') return request.socket.destroy();
    response.writeHead(200, { 'content-type': 'application/json' }).write('{}');
    setImmediate(() => request.socket.destroy());
    return undefined;
  });
  const headers = await dashboard.logIn();
  const lost = await readAll(dashboard.open(streamOf('/api/v1/pods?watch=true'), [PROTOCOL], headers));
  assert.equal(lost.code, 1011);
  const unreached = await readAll(dashboard.open(streamOf('/version'), [PROTOCOL], headers));
  assert.deepEqual([unreached.code, unreached.first], [1011, { status: 503, contentType: 'application/json' }]);
  assert.equal(JSON.parse(unreached.body).reason, 'ServiceUnavailable');
});

test('a WebSocket without a session, from another origin or for another path is refused', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const headers = await dashboard.logIn();
  const path = streamOf('/api/v1/pods?watch=true');
  assert.equal(await refusal(dashboard.open(path, [PROTOCOL], {})), 401);
  assert.equal(await refusal(dashboard.open(path, [PROTOCOL], { cookie: headers.cookie! })), 401);
  assert.equal(await refusal(dashboard.open(path, [PROTOCOL], { ...headers, origin: 'http://attacker.example' })), 403);
  assert.equal(await refusal(dashboard.open(path, ['other'], headers)), 400);
  assert.equal(await refusal(dashboard.open('/api/v1/pods', [PROTOCOL], headers)), 403);
  for (const target of ['/metrics', '/podwright/v1/transfers', '/api/../metrics', 'http://other/api', ''])
    assert.equal(await refusal(dashboard.open(streamOf(target), [PROTOCOL], headers)), 403, target);
  assert.equal(dashboard.seen.length, 0);
});

test('a page that sends a large message is disconnected', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.writeHead(200).flushHeaders());
  const socket = dashboard.open(streamOf('/api/v1/pods?watch=true'), [PROTOCOL], await dashboard.logIn());
  await once(socket, 'open');
  socket.send(Buffer.alloc(2 << 10));
  const [code] = (await once(socket, 'close')) as [number];
  assert.equal(code, 1009);
});
