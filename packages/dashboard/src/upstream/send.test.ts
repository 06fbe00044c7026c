import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CONNECT_TIMEOUT_MS } from '../limits.ts';
import type { ApiServer } from './api-server.ts';
import { nodeSocket } from './node-socket.ts';
import { readUpstream } from './send.ts';

const CALL = { method: 'GET', target: '/version', headers: {} };

async function serve(t: TestContext, listener: RequestListener): Promise<ApiServer> {
  const directory = mkdtempSync(join(tmpdir(), 'pw-send-'));
  const server = createServer(listener);
  await once(server.listen(join(directory, 's')), 'listening');
  const api = nodeSocket(join(directory, 's'));
  t.after(() => {
    api.close();
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  return api;
}

const read = async (api: ApiServer) => {
  const { status, body } = await readUpstream(api, CALL, AbortSignal.timeout(10_000));
  return `${status} ${body}`;
};

test('a request answered with 401 is retried once if there are new credentials', async (t) => {
  const seen: unknown[] = [];
  const socket = await serve(t, ({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(headers.authorization === 'Bearer new' ? 200 : 401).end('x');
  });
  let token = 'old';
  const refused = async () => {
    const isOld = token === 'old';
    token = 'new';
    return isOld;
  };
  const api: ApiServer = { ...socket, authorization: { header: () => `Bearer ${token}`, refused } };
  assert.equal(await read(api), '200 x');
  assert.deepEqual(seen, ['Bearer old', 'Bearer new']);
  token = 'wrong';
  assert.equal(await read(api), '401 x');
});

test('a GET is retried once if the server closed the kept-alive connection', async (t) => {
  let requests = 0;
  const api = await serve(t, (request, response) => {
    requests++;
    if (requests === 2) request.socket.destroy();
    else response.end('x');
  });
  assert.equal(await read(api), '200 x');
  assert.equal(await read(api), '200 x');
  assert.equal(requests, 3);
});

test('the error names the unreachable API server', async () => {
  await assert.rejects(read(nodeSocket('/nonexistent/socket')), /cannot reach the API server \/nonexistent\/socket/);
});

test('a server that accepts the connection but does not answer the TLS handshake is abandoned', async (t) => {
  const server = createTcpServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const options = { host: '127.0.0.1', port, agent: false, rejectUnauthorized: false };
  const silent: ApiServer = { ...nodeSocket(''), name: 'silent', connection: async () => ({ secure: true, options }) };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const failed = assert.rejects(read(silent), /cannot reach the API server silent: no connection within 10 s/);
  const [connection] = await once(server, 'connection');
  t.mock.timers.tick(CONNECT_TIMEOUT_MS);
  await failed;
  connection.destroy();
});

test('an oversized response is rejected', async (t) => {
  const api = await serve(t, (_request, response) => {
    response.end(Buffer.alloc(17 << 20));
  });
  await assert.rejects(read(api), /more than 16 MiB/);
});
