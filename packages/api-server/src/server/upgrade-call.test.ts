import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { forbidden } from '@podwright/api-machinery';
import { waitFor } from '@podwright/base';
import type { SubresourceHandler } from './server-parts.ts';
import { TestServer } from './test-server.fixture.ts';

const EXEC = '/api/v1/namespaces/x/pods/web/exec';
const upgrade = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n${headers}\r\nhello`;

/** A subresource handler that switches to a protocol in which all bytes are echoed. */
const echo: SubresourceHandler = async ({ exchange, info }) => {
  if (info.name === 'refused') throw forbidden({ group: '', plural: 'pods' }, info.name, 'no');
  const { socket, head } = exchange.upgrade!();
  assert.equal(exchange.response.socket, null, 'the response no longer uses the connection');
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n');
  socket.write(head);
  socket.pipe(socket);
  await once(exchange.signal, 'abort');
};

const subresources = new Map([['pods/exec', echo]]);

test('authenticates and authorizes upgrades before a handler takes over the connection', async () => {
  const codes: number[] = [];
  const observer = { completed: (_: unknown, status: number) => void codes.push(status) };
  await using server = await TestServer.start({ subresources, observers: [observer] });
  const local = connect(server.socketPath).setEncoding('utf8');
  local.write(upgrade(EXEC));
  assert.match((await once(local, 'data'))[0], /^HTTP\/1\.1 101 [\s\S]*hello$/);
  local.write('more');
  assert.equal((await once(local, 'data'))[0], 'more');
  local.destroy();
  const secure = (headers: string) => {
    const socket = connectTls({ port: server.port, host: '127.0.0.1', ca: server.certificate });
    socket.write(upgrade(EXEC, headers));
    return socket.setEncoding('utf8');
  };
  assert.match(await text(secure('')), /^HTTP\/1\.1 401 [\s\S]*"reason":"Unauthorized"/);
  const allowed = secure('authorization: Bearer token-alice\r\n');
  assert.match((await once(allowed, 'data'))[0], /^HTTP\/1\.1 101 /);
  allowed.destroy();
  assert.deepEqual(server.authorized, ['system:admin get pods/exec x/web', 'alice get pods/exec x/web']);
  await waitFor(() => codes.length === 3 || undefined, { intervalMs: 5, signal: AbortSignal.timeout(5000) });
  assert.deepEqual(codes, [101, 401, 101]);
  assert.deepEqual(server.errors, []);
});

test('responds to refused upgrades, and upgrades of other paths, like to other requests', async () => {
  await using server = await TestServer.start({ subresources });
  const answer = async (path: string) => {
    const socket = connect(server.socketPath);
    socket.end(upgrade(path).replace('hello', ''));
    return text(socket);
  };
  assert.match(await answer(EXEC.replace('web', 'refused')), /^HTTP\/1\.1 403 [\s\S]*"reason":"Forbidden"/);
  assert.match(await answer('/livez'), /^HTTP\/1\.1 200 [\s\S]*ok$/);
});
