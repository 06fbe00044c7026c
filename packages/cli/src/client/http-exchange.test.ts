import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { exchange, type HttpResponse } from './http-exchange.ts';

async function listen(t: TestContext, server: Server): Promise<string> {
  const directory = mkdtempSync('/tmp/exchange-');
  const path = join(directory, 's');
  const open = new Set<Socket>();
  server.on('connection', (socket) => open.add(socket.on('error', () => undefined)));
  await once(server.listen(path), 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
    rmSync(directory, { recursive: true });
  });
  return path;
}

const serve = (t: TestContext, answer: RequestListener) => listen(t, createHttpServer(answer));

/**
 * Starts a server that sends these parts of a response in separate writes and then closes the connection. Returns the path of its socket.
 */
function answering(t: TestContext, ...parts: string[]): Promise<string> {
  const answer = async (socket: Socket) => {
    await once(socket, 'data');
    for (const part of parts) {
      socket.write(part);
      await new Promise(setImmediate);
    }
    socket.end();
  };
  return listen(
    t,
    createServer((socket) => void answer(socket)),
  );
}

const get = (path: string, signal?: AbortSignal) => exchange(path, { method: 'GET', path: '/a', headers: {}, signal });

async function textOf(response: HttpResponse): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

test('a node:http server gets the request, and its response arrives with a length or chunked', async (t) => {
  const path = await serve(t, async (request, response) => {
    const body = await request.setEncoding('utf8').toArray();
    const echo = JSON.stringify([request.method, request.url, request.headers['content-type'], body.join('')]);
    response.statusCode = request.url === '/long' ? 404 : 200;
    if (request.url === '/long') return response.end(echo.padEnd(300_000));
    response.write(echo.slice(0, 5));
    response.write('ä'.repeat(100_000));
    response.end(echo.slice(5));
  });
  for (const [method, body] of [['GET'], ['DELETE'], ['POST', 'ü'.repeat(200_000)]] as const) {
    const request = { method, headers: { 'content-type': 'x/y' }, body };
    const long = await exchange(path, { ...request, path: '/long' });
    assert.equal(long.statusCode, 404);
    assert.deepEqual(JSON.parse(await textOf(long)), [method, '/long', 'x/y', body ?? '']);
    const chunked = await exchange(path, { ...request, path: '/chunked?a=b' });
    assert.equal(chunked.statusCode, 200);
    const text = (await textOf(chunked)).replace('ä'.repeat(100_000), '');
    assert.deepEqual(JSON.parse(text), [method, '/chunked?a=b', 'x/y', body ?? '']);
  }
});

test('a response may arrive in arbitrary pieces', async (t) => {
  const chunked =
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n';
  const counted = 'HTTP/1.1 201 \r\ncontent-length:  3\r\n\r\nabcdef';
  const open = 'HTTP/1.1 200 OK\r\n\r\nabc';
  for (const [text, expected] of [
    [chunked, 'abc0123456789'],
    [counted, 'abc'],
    [open, 'abc'],
  ] as const)
    for (const parts of [[text], [...text], [text.slice(0, 20), text.slice(20, 60), text.slice(60)]])
      assert.equal(await textOf(await get(await answering(t, ...parts))), expected);
});

test('a truncated answer fails as with node:http', async (t) => {
  const cut = { code: 'ECONNRESET' };
  for (const text of ['', 'HTTP/1.1 2', 'HTTP/1.1 200 OK\r\nA: b\r\n'])
    await assert.rejects(get(await answering(t, text)), cut);
  for (const text of ['content-length: 4\r\n\r\nabc', 'transfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n'])
    await assert.rejects(textOf(await get(await answering(t, `HTTP/1.1 200 OK\r\n${text}`))), cut);
});

test('an answer that is not HTTP is refused, whatever its length', async (t) => {
  const refused = { code: 'internal', message: /^read the node's answer: .{0,120} is not HTTP$/ };
  const endless = 'x'.repeat(40_000);
  for (const text of ['SSH-2.0\r\n', endless, `HTTP/1.1 200 OK\r\n${endless}`])
    await assert.rejects(get(await answering(t, text)), refused);
  const long = `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(1000)}`;
  const message = "read the node's answer: its head has more than 100 lines";
  await assert.rejects(get(await answering(t, long)), { code: 'internal', message });
  for (const text of [
    'content-length: -1\r\n\r\n',
    'transfer-encoding: chunked\r\n\r\nzz\r\n',
    'transfer-encoding: chunked\r\n\r\n1\r\nab\r\n',
  ])
    await assert.rejects(textOf(await get(await answering(t, `HTTP/1.1 200 OK\r\n${text}`))), refused);
});

test('paths and headers cannot inject anything into the request', async () => {
  for (const [path, type] of [
    ['/a b', 'x'],
    ['/a\r\nb', 'x'],
    ['/ä', 'x'],
    ['/a', 'x\r\ny: z'],
  ])
    await assert.rejects(exchange('/nonexistent', { method: 'GET', path: path!, headers: { type: type! } }), {
      code: 'invalid_argument',
    });
  await assert.rejects(get('/nonexistent'), { code: 'ENOENT' });
});

test('a signal aborts an exchange at any time, and leaving the body early closes the connection', async (t) => {
  const closed: Promise<unknown>[] = [];
  const path = await serve(t, (request, response) => {
    closed.push(once(request.socket, 'close'));
    if (closed.length > 1) response.write('abc');
  });
  await assert.rejects(get(path, AbortSignal.abort()), { name: 'AbortError' });
  const first = new AbortController();
  const waiting = get(path, first.signal);
  setTimeout(() => first.abort(), 20);
  await assert.rejects(waiting, { name: 'AbortError' });
  await closed[0];
  const second = new AbortController();
  const body = textOf(await get(path, second.signal));
  setTimeout(() => second.abort(), 20);
  await assert.rejects(body, { name: 'AbortError' });
  for await (const _ of await get(path)) break;
  (await get(path)).destroy();
  await Promise.all(closed);
  assert.equal(closed.length, 4);
});
