import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { HealthCheckServers } from './health-check-servers.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a port reports the local endpoints and the proxy’s health until the check is removed', async (t) => {
  let isHealthy = true;
  const servers = new HealthCheckServers({ isHealthy: () => isHealthy, logger: silentLogger });
  t.after(() => servers.close());
  const check = { namespace: 'default', name: 'web', port: await freePort(), localEndpoints: 2 };
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${check.port}/`, { headers: { connection: 'close' } });
    const weight = response.headers.get('x-load-balancing-endpoint-weight');
    return { status: response.status, weight, body: await response.json() };
  };
  await servers.update([check], ['127.0.0.1']);
  const service = { namespace: 'default', name: 'web' };
  const body = { service, localEndpoints: 2, serviceProxyHealthy: true };
  assert.deepEqual(await ask(), { status: 200, weight: '2', body });
  isHealthy = false;
  assert.equal((await ask()).status, 503);
  isHealthy = true;
  await servers.update([{ ...check, localEndpoints: 0 }], ['127.0.0.1']);
  assert.deepEqual((await ask()).status, 503);
  await servers.update([], ['127.0.0.1']);
  await assert.rejects(ask());
});

test('a port in use is served once it is free', async (t) => {
  const servers = new HealthCheckServers({ isHealthy: () => true, logger: silentLogger });
  t.after(() => servers.close());
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  const { port } = blocker.address() as AddressInfo;
  const check = { namespace: 'default', name: 'web', port, localEndpoints: 1 };
  await servers.update([check], ['127.0.0.1']);
  await new Promise((resolve) => blocker.close(resolve));
  await servers.update([check], ['127.0.0.1']);
  assert.equal((await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).status, 200);
});
