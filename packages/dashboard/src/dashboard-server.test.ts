import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { MAX_BODY_BYTES, MAX_DASHBOARD_BODY_BYTES, MAX_SESSION_REQUESTS } from './limits.ts';
import { ServedDashboard } from './served-dashboard.fixture.ts';

const PODS = '/api/v1/namespaces/default/pods';
const reason = (text: string) => (JSON.parse(text) as { reason: string }).reason;

async function until(check: () => boolean): Promise<void> {
  using signal = withTimeout(undefined, 10_000, `wait for ${check}`);
  await waitFor(async () => check() || undefined, { intervalMs: 5, signal });
}

test('a link starts only one session', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const headers = await dashboard.logIn(dashboard.token);
  assert.equal((await dashboard.call({ path: PODS, headers })).status, 200);
  await assert.rejects(dashboard.logIn(dashboard.token), /"reason":"Unauthorized"/);
});

test('a request without a session’s cookie or key does not reach the API server', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const { cookie = '', 'x-podwright-key': key = '' } = await dashboard.logIn();
  for (const headers of [{}, { cookie }, { 'x-podwright-key': key }, { cookie, 'x-podwright-key': 'other' }])
    for (const path of [PODS, '/dashboard/session', '/dashboard/why', '/nothing']) {
      const answer = await dashboard.call({ path, headers: headers as Record<string, string> });
      assert.deepEqual([answer.status, reason(answer.text)], [401, 'Unauthorized'], path);
    }
  assert.equal(dashboard.seen.length, 0);
});

test('connections without a session do not lock out those with one', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const headers = await dashboard.logIn();
  const silent = Array.from({ length: 1100 }, () => connect(dashboard.port, '127.0.0.1').on('error', () => undefined));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  assert.equal((await dashboard.call({ path: PODS, headers })).status, 200);
  assert.ok(silent.some(({ destroyed, readableEnded }) => !destroyed && !readableEnded));
  for (const socket of silent) socket.destroy();
});

test('a session ends when its page logs out', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const headers = await dashboard.logIn();
  assert.equal((await dashboard.call({ method: 'POST', path: '/dashboard/logout', headers })).status, 200);
  assert.equal((await dashboard.call({ path: PODS, headers })).status, 401);
});

test('requests for other hosts or from other origins are rejected, even with a session’s credentials', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const credentials = await dashboard.logIn();
  const refused: Record<string, string>[] = [
    { host: 'attacker.example' },
    { origin: 'http://attacker.example' },
    { 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of refused)
    for (const path of ['/', PODS, '/dashboard/session']) {
      const answer = await dashboard.call({ path, headers: { ...credentials, ...headers } });
      assert.deepEqual([answer.status, reason(answer.text)], [403, 'Forbidden'], `${path} ${JSON.stringify(headers)}`);
    }
  const login = { method: 'POST', path: '/dashboard/login', body: '{"token":"x"}' };
  assert.equal((await dashboard.call({ ...login, headers: { origin: 'http://attacker.example' } })).status, 403);
  assert.equal((await dashboard.call({ ...login, headers: { 'content-type': 'text/plain' } })).status, 400);
  assert.equal(dashboard.seen.length, 0);
});

test('the document has a strict Content Security Policy, and every answer has the security headers', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const headers = await dashboard.logIn();
  const answers = {
    document: await dashboard.call({ path: '/' }),
    forwarded: await dashboard.call({ path: PODS, headers }),
    refused: await dashboard.call({ path: PODS }),
    own: await dashboard.call({ path: '/dashboard/why', headers }),
  };
  assert.match(answers.document.text, /<title>page/);
  const policy = answers.document.headers['content-security-policy'] as string;
  assert.match(policy, /^default-src 'none'; script-src 'self';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|data:|blob:|https?:|\*|nonce|sha256/);
  for (const [name, answer] of Object.entries(answers)) {
    assert.equal(answer.headers['x-content-type-options'], 'nosniff', name);
    assert.equal(answer.headers['referrer-policy'], 'no-referrer', name);
    assert.equal(answer.headers['cross-origin-opener-policy'], 'same-origin', name);
    if (name !== 'document')
      assert.match(answer.headers['content-security-policy'] as string, /^default-src 'none'.*sandbox/);
  }
});

test('requests are forwarded with method, query and body, but without the browser’s headers', async (t) => {
  let body = '';
  const dashboard = await ServedDashboard.start(t, async (request, response) => {
    for await (const chunk of request) body += chunk;
    response.writeHead(409, { 'content-type': 'application/json', 'set-cookie': 'a=b' }).end('{"reason":"Conflict"}');
  });
  const headers = await dashboard.logIn();
  const answer = await dashboard.call({
    ...{ method: 'PATCH', path: `${PODS}/web?fieldManager=page`, body: '{"a":1}' },
    headers: { ...headers, 'impersonate-user': 'admin', authorization: 'Bearer x' },
  });
  assert.deepEqual([answer.status, answer.text], [409, '{"reason":"Conflict"}']);
  assert.equal(answer.headers['set-cookie'], undefined);
  const [seen] = dashboard.seen;
  assert.deepEqual([seen!.method, seen!.url, body], ['PATCH', `${PODS}/web?fieldManager=page`, '{"a":1}']);
  for (const name of ['cookie', 'authorization', 'impersonate-user', 'x-podwright-key', 'origin'])
    assert.equal(seen!.headers[name], undefined, name);
});

test('hostile answers do not become documents or redirects', async (t) => {
  const dashboard = await ServedDashboard.start(t, (request, response) => {
    const isHtml = request.url === '/version';
    response.writeHead(isHtml ? 200 : 302, { 'content-type': 'text/html', location: 'http://attacker.example/' });
    response.end('<script>alert(1)</script>');
  });
  const headers = await dashboard.logIn();
  const html = await dashboard.call({ path: '/version', headers });
  assert.deepEqual([html.status, html.headers['content-type']], [200, 'text/plain; charset=utf-8']);
  const redirect = await dashboard.call({ path: PODS, headers });
  assert.deepEqual([redirect.status, redirect.headers.location], [502, undefined]);
});

test('paths outside the API are not forwarded', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const headers = await dashboard.logIn();
  for (const path of [
    '/podwright/v1/stop',
    '/metrics',
    '/api/../metrics',
    '/api/%2e%2e/metrics',
    `${PODS}/web/proxy/x`,
  ]) {
    const { status } = await dashboard.call({ path, headers });
    assert.ok(status === 403 || status === 404, `${path}: ${status}`);
  }
  assert.equal(dashboard.seen.length, 0);
});

test('bodies are limited in size', async (t) => {
  const dashboard = await ServedDashboard.start(t, (_request, response) => response.end('{}'));
  const headers = await dashboard.logIn();
  const send = (path: string, length: number) =>
    dashboard
      .call({ method: 'POST', path, headers, body: `{"a":"${'x'.repeat(length)}"}` })
      .catch(() => ({ status: 0 }));
  assert.notEqual((await send(PODS, MAX_BODY_BYTES)).status, 200);
  assert.notEqual((await send('/dashboard/try', MAX_DASHBOARD_BODY_BYTES)).status, 200);
  assert.equal(dashboard.seen.length, 0);
});

test('a 503 response reports an unreachable API server, and the session remains', async (t) => {
  let isDown = true;
  const dashboard = await ServedDashboard.start(t, (request, response) => {
    if (isDown) request.socket.destroy();
    else response.end('{}');
  });
  const headers = await dashboard.logIn();
  const answer = await dashboard.call({ path: PODS, headers });
  assert.deepEqual([answer.status, reason(answer.text)], [503, 'ServiceUnavailable']);
  isDown = false;
  assert.equal((await dashboard.call({ path: PODS, headers })).status, 200);
});

test('closing a WebSocket ends the API server’s stream, and ending a session ends all its streams', async (t) => {
  let open = 0;
  const dashboard = await ServedDashboard.start(t, (_request, response) => {
    open++;
    response.once('close', () => open--);
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  });
  const headers = await dashboard.logIn();
  const stream = `/dashboard/stream?path=${encodeURIComponent(`${PODS}?watch=true`)}`;
  const socket = dashboard.open(stream, ['podwright.stream.v1'], headers);
  const left = dashboard.open(stream, ['podwright.stream.v1'], headers);
  await Promise.all([once(socket, 'message'), once(left, 'message')]);
  assert.equal(open, 2);
  left.terminate();
  await until(() => open === 1);
  await dashboard.call({ method: 'POST', path: '/dashboard/logout', headers });
  await once(socket, 'close');
  await until(() => open === 0);
});

test('a session’s number of requests is limited', async (t) => {
  const waiting: (() => void)[] = [];
  const dashboard = await ServedDashboard.start(t, (_request, response) => waiting.push(() => response.end('{}')));
  const headers = await dashboard.logIn();
  const calls = Array.from({ length: MAX_SESSION_REQUESTS }, () =>
    dashboard.call({ path: `${PODS}?watch=true`, headers }),
  );
  await until(() => waiting.length === MAX_SESSION_REQUESTS);
  assert.equal((await dashboard.call({ path: PODS, headers })).status, 429);
  for (const answer of waiting.splice(0)) answer();
  for (const call of calls) assert.equal((await call).status, 200);
});
