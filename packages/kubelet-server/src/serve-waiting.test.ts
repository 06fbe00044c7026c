import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { serveWaiting } from './serve-waiting.ts';
import { freePort } from './served-api.fixture.ts';

const reason = 'the container runtime is down: connection refused; the kubelet waits for it';

async function serve(t: TestContext) {
  const directory = mkdtempSync('/tmp/serve-waiting-');
  t.after(() => rmSync(directory, { recursive: true }));
  const socketPath = join(directory, 'node.sock');
  const server = { healthzPort: await freePort(), healthzBindAddress: '127.0.0.1' };
  const options = { socketPath, server, reason, logger: silentLogger };
  const waiting = await serveWaiting(options);
  t.after(() => waiting.close());
  return { options, waiting, health: `http://127.0.0.1:${server.healthzPort}` };
}

function ask(socketPath: string, path: string, headers = {}): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const outgoing = request({ socketPath, path, agent: false, headers }, (response) => {
    text(response).then((body) => resolve({ status: response.statusCode!, body }), reject);
  });
  outgoing.on('error', reject).end();
  return promise;
}

test('a kubelet waiting for its runtime is unhealthy, and every request fails with the reason', async (t) => {
  const { options, health } = await serve(t);
  const { socketPath } = options;
  const listed = '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n';
  const answerOf = async (path: string) => {
    const answer = await fetch(health + path);
    return [answer.status, await answer.text()];
  };
  assert.deepEqual(await answerOf('/healthz'), [500, listed]);
  assert.deepEqual(await answerOf('/healthz/ping'), [200, 'ok']);
  assert.deepEqual(await answerOf('/healthz/syncloop'), [500, `internal server error: ${reason}\n`]);
  assert.deepEqual(await answerOf('/pods'), [404, '404 page not found\n']);
  assert.deepEqual(await ask(socketPath, '/healthz?verbose'), { status: 500, body: listed });
  const upgrade = { connection: 'upgrade', upgrade: 'SPDY/3.1' };
  for (const headers of [{}, upgrade]) {
    const { status, body } = await ask(socketPath, '/api/v1/pods', headers);
    const { kind, message, reason: why } = JSON.parse(body) as Record<string, unknown>;
    assert.deepEqual([status, kind, message, why], [503, 'Status', reason, 'ServiceUnavailable']);
  }
});

test('a failed start, due to a second daemon or a port in use, leaves no socket behind', async (t) => {
  const { options, waiting } = await serve(t);
  await assert.rejects(serveWaiting(options), { code: 'already_exists' });
  const other = { ...options, socketPath: `${options.socketPath}2` };
  await assert.rejects(serveWaiting(other), /serve the kubelet's API on 127\.0\.0\.1 port \d+: /);
  await assert.rejects(ask(other.socketPath, '/'), { code: 'ENOENT' });
  await waiting.close();
  const again = await serveWaiting(options);
  await again.close();
});
