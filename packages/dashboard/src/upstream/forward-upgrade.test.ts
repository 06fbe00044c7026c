import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocketServer } from 'ws';
import { ServedDashboard } from '../served-dashboard.fixture.ts';

const EXEC = '/api/v1/namespaces/default/pods/web/exec?command=sh&stdin=true&tty=true';
const V5 = 'v5.channel.k8s.io';

test('an exec WebSocket is forwarded without the session key, and ends with the session', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end());
  const server = new WebSocketServer({ noServer: true });
  let protocols: string | undefined;
  dashboard.api.on('upgrade', (request, socket, head) => {
    dashboard.seen.push(request);
    protocols = request.headers['sec-websocket-protocol'];
    server.handleUpgrade(request, socket, head, (client) => client.on('message', (data) => client.send(data)));
  });
  const headers = await dashboard.logIn();
  const socket = dashboard.open(EXEC, [V5], headers);
  await once(socket, 'open');
  assert.equal(socket.protocol, V5);
  assert.equal(protocols, V5);
  const [seen] = dashboard.seen;
  assert.equal(seen!.url, EXEC);
  for (const name of ['cookie', 'origin']) assert.equal(seen!.headers[name], undefined);
  socket.send(Buffer.from('\0ls'));
  const [echo] = (await once(socket, 'message')) as [Buffer];
  assert.equal(String(echo), '\0ls');
  await dashboard.call({ method: 'POST', path: '/dashboard/logout', headers });
  await once(socket, 'close');
});

test('the API server’s rejection of a terminal is reported', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end());
  dashboard.api.on('upgrade', (_request, socket) => {
    const body = '{"message":"pods \\"web\\" is forbidden"}';
    socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  const socket = dashboard.open(EXEC, [V5], await dashboard.logIn());
  socket.on('error', () => undefined);
  const [, response] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const chunk of response) text += chunk;
  assert.equal(response.statusCode, 403);
  assert.match((JSON.parse(text) as { message: string }).message, /403: pods "web" is forbidden/);
});
