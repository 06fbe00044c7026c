import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiStatusError } from '../api-status-error.ts';
import { NODES, PODS, SECRETS, SERVICE_ACCOUNTS } from '../resources.ts';
import { answer, type TestResponse, TestServer } from '../test-server.fixture.ts';
import { bearerToken, createKubeClient } from './create-kube-client.ts';
import { statusOfAnswer } from './status-of-answer.ts';

const NODE = { metadata: { name: 'n' } };

function connect(server: TestServer) {
  const client = createKubeClient({ server: server.url, tls: server.tls, authorization: bearerToken('our-token') });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

const STATUSES: [
  what: string,
  answer: { status: number; text: string; type?: string; after?: string; method?: string },
  expected: object,
][] = [
  [
    'a Status',
    { status: 404, text: '{"kind":"Status","code":404,"reason":"NotFound","message":"pods \\"a\\" not found"}' },
    { code: 404, reason: 'NotFound', message: 'pods "a" not found' },
  ],
  [
    'a Status with causes and a wait',
    {
      status: 429,
      text: '{"kind":"Status","reason":"TooManyRequests","message":"m","details":{"retryAfterSeconds":7,"causes":[{"reason":"x"},5]}}',
    },
    { code: 429, reason: 'TooManyRequests', message: 'm', retryAfterSeconds: 7, causes: [{ reason: 'x' }] },
  ],
  [
    'plain text',
    { status: 404, text: '404 page not found\n', type: 'text/plain; charset=utf-8' },
    { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource: 404 page not found' },
  ],
  [
    'a page of a proxy',
    { status: 502, text: '<html>', type: 'text/html' },
    { code: 502, reason: 'InternalError', message: 'the server answered with the HTTP status 502' },
  ],
  [
    'nothing, with a wait',
    { status: 503, text: '', after: '3' },
    {
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'the server is currently unable to handle the request',
      retryAfterSeconds: 3,
    },
  ],
  [
    'a wait that is a date',
    { status: 503, text: '{"kind":"Status","message":"m","reason":"r"}', after: 'Wed, 21 Oct 2015 07:28:00 GMT' },
    { code: 503, reason: 'r', message: 'm' },
  ],
  [
    'a conflict without a message, on POST',
    { status: 409, text: '', method: 'POST' },
    { code: 409, reason: 'AlreadyExists', message: 'the server reported a conflict' },
  ],
  [
    'fields of wrong types',
    { status: 400, text: '{"kind":"Status","code":"x","reason":[],"message":{},"details":7}' },
    { code: 400, reason: '', message: 'the server gave no reason' },
  ],
  [
    'an unknown status',
    { status: 418, text: '' },
    { code: 418, reason: '', message: 'the server answered with the HTTP status 418' },
  ],
];

for (const [what, { status, text, type, after, method = 'GET' }, expected] of STATUSES) {
  test(`an error response that is ${what}`, () => {
    const refused = { method, status, text, contentType: type, retryAfter: after };
    assert.deepEqual(statusOfAnswer(refused), expected);
  });
}

test('long server messages are truncated', () => {
  const text = JSON.stringify({ kind: 'Status', message: 'x'.repeat(100_000) });
  const refused = { method: 'GET', status: 500, text, contentType: undefined, retryAfter: undefined };
  assert.equal(statusOfAnswer(refused).message.length, 4096);
});

/**
 * Makes a request to a server that responds with each of the errors in turn and then with success. Returns the number of requests that the
 * server received.
 */
async function repeats(method: 'get' | 'create', refusals: [status: number, retryAfter?: string][]) {
  const left = [...refusals];
  await using server = await TestServer.start('h2', (_request, response) => {
    const [status, after] = left.shift() ?? [200];
    answer(response, status, NODE, after === undefined ? {} : { 'retry-after': after });
  });
  using client = connect(server);
  const call = method === 'get' ? client.get(NODES, { name: 'n' }) : client.create(NODES, NODE);
  const failed = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  return {
    requests: server.requests.length,
    status: failed instanceof ApiStatusError ? failed.status.code : undefined,
  };
}

test('429 and 5xx are retried up to ten times if the header has a delay, and nothing else is', async () => {
  const check = async (refusals: [number, string?][], expected: object, method: 'get' | 'create' = 'get') =>
    assert.deepEqual(await repeats(method, refusals), expected);
  await check(
    [
      [429, '0'],
      [503, '0'],
      [500, '0'],
    ],
    { requests: 4, status: undefined },
  );
  await check([[429, '0']], { requests: 2, status: undefined }, 'create');
  await check([[500]], { requests: 1, status: 500 });
  await check([[429]], { requests: 1, status: 429 });
  await check([[409, '0']], { requests: 1, status: 409 });
  await check([[429, 'soon']], { requests: 1, status: 429 });
  await check(Array(20).fill([429, '0']), { requests: 11, status: 429 });
});

test('a delay beyond the call’s deadline rejects with the server’s error', async () => {
  await using server = await TestServer.start('h2', (_request, response) =>
    answer(response, 429, {}, { 'retry-after': '1000' }),
  );
  using client = connect(server);
  await assert.rejects(client.get(NODES, { name: 'n' }, { timeoutMs: 300 }), { code: 'resource_exhausted' });
  assert.equal(server.requests.length, 1);
});

test('a missing response rejects with deadline_exceeded, or the signal’s reason', async () => {
  await using server = await TestServer.start('h2', () => undefined);
  using client = connect(server);
  await assert.rejects(client.get(NODES, { name: 'n' }, { timeoutMs: 100 }), {
    code: 'deadline_exceeded',
    message: 'get nodes n: no answer within 100 ms',
  });
  const reason = new Error('not needed');
  await assert.rejects(client.get(NODES, { name: 'n' }, { signal: AbortSignal.abort(reason) }), reason);
});

const BROKEN_BODIES: [what: string, body: string, error: { code: string; message: RegExp }][] = [
  [
    'no JSON',
    '<html>hidden',
    { code: 'internal', message: /^get nodes n: the response is not JSON \(12 characters\)$/ },
  ],
  ['nothing', '', { code: 'internal', message: /the response is not JSON/ }],
  ['text', '"hidden"', { code: 'internal', message: /^get nodes n: the response is not an API object$/ }],
  ['a list', '[]', { code: 'internal', message: /not an API object/ }],
  ['an object with odd metadata', '{"metadata":"hidden"}', { code: 'internal', message: /not an API object/ }],
  [
    'long',
    ' '.repeat((16 << 20) + 1),
    { code: 'resource_exhausted', message: /the response has more than 16777216 bytes/ },
  ],
];

for (const [what, body, { code, message }] of BROKEN_BODIES) {
  test(`a response that is ${what} is rejected`, async () => {
    await using server = await TestServer.start('h2', (_request, response) => response.end(body));
    using client = connect(server);
    await assert.rejects(client.get(NODES, { name: 'n' }), { code, message });
  });
}

test('after a truncated response, a GET is retried but a write is not', async () => {
  for (const kind of ['h2', 'https'] as const) {
    let cuts = 0;
    const handle = (_request: unknown, response: TestResponse) => {
      if (cuts++ % 2 === 1) return answer(response, 200, NODE);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"metadata":', () => server.cut());
    };
    await using server = await TestServer.start(kind, handle);
    using client = connect(server);
    assert.deepEqual(await client.get(NODES, { name: 'n' }), NODE);
    assert.equal(server.requests.length, 2);
    await assert.rejects(client.update(NODES, NODE), { code: 'unavailable' });
    assert.equal(server.requests.length, 3);
  }
});

test('a refused connection rejects with unavailable', async () => {
  const client = createKubeClient({ server: 'https://127.0.0.1:1' });
  await assert.rejects(client.get(NODES, { name: 'n' }), {
    code: 'unavailable',
    message: /^get nodes n: https:\/\/127\.0\.0\.1:1: connect.*connection refused/,
  });
  client.close();
});

test('names cannot alter the path', async () => {
  await using server = await TestServer.start('h2', (_request, response) => answer(response, 200, NODE));
  using client = connect(server);
  for (const name of ['', '.', '..', 'a/b', 'a%2fb', '../../nodes/n'])
    await assert.rejects(client.get(SECRETS, { namespace: 'shop', name }), { code: 'invalid_argument' });
  for (const namespace of [undefined, '', '..', 'a/b'])
    await assert.rejects(client.get(SECRETS, { namespace, name: 'a' }), { code: 'invalid_argument' });
  await client.get(SECRETS, { namespace: 'shop', name: 'a?b#c d' });
  assert.deepEqual(
    server.requests.map(({ url }) => url),
    ['/api/v1/namespaces/shop/secrets/a%3Fb%23c%20d'],
  );
});

test('a subresource is created on an object, and a review has no name', async () => {
  await using server = await TestServer.start('h2', (_request, response) =>
    answer(response, 201, { status: { token: 't' } }),
  );
  using client = connect(server);
  const place = { metadata: { namespace: 'shop', name: 'default' } };
  const token = await client.create<{ metadata: object; status?: object }>(SERVICE_ACCOUNTS, place, {
    subresource: 'token',
  });
  assert.deepEqual(token, { metadata: {}, status: { token: 't' } });
  await client.create(NODES, { metadata: {} });
  assert.deepEqual(
    server.requests.map(({ url }) => url),
    ['/api/v1/namespaces/shop/serviceaccounts/default/token', '/api/v1/nodes'],
  );
});

test('the server URL may have a path prefix, and responses may be text', async () => {
  await using server = await TestServer.start('h2', (_request, response) => response.end('ok'));
  const client = createKubeClient({ server: `${server.url}/cluster/`, tls: server.tls });
  assert.equal(await client.getText('/healthz'), 'ok');
  assert.equal(server.requests[0]!.url, '/cluster/healthz');
  client.close();
});

test('errors do not contain the token, even if the server echoes it', async () => {
  await using server = await TestServer.start('h2', ({ headers }, response) =>
    answer(response, 403, { kind: 'Status', reason: 'Forbidden', message: `${headers.authorization} is forbidden` }),
  );
  using client = connect(server);
  await assert.rejects(client.get(PODS, { namespace: 'a', name: 'b' }), {
    message: 'get pods a/b: Bearer … is forbidden',
  });
});
