import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { reviewHandlers } from '../subresources/review-requests.ts';
import { send, WAYS } from './test-client.fixture.ts';
import { TestServer } from './test-server.fixture.ts';

const MAPS = '/api/v1/namespaces/x/configmaps';

/** Starts sending a request body. The returned function sends the rest and returns the response's status code. */
function begin(server: TestServer, method: string, path: string, body: object): () => Promise<number> {
  const text = JSON.stringify(body);
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text) };
  const sent = request({ socketPath: server.socketPath, method, path, headers });
  sent.write(text.slice(0, 5));
  return async () => {
    sent.end(text.slice(5));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  };
}

test('a write with a late body is refused if the user has lost the permission by then', async () => {
  let isAllowed = true;
  await using server = await TestServer.start({ decide: () => (isAllowed ? 'allow' : 'no opinion') });
  await send(server, WAYS[0], { method: 'POST', path: MAPS, body: JSON.stringify({ metadata: { name: 'a' } }) });
  const finish = [
    begin(server, 'POST', MAPS, { metadata: { name: 'late' } }),
    begin(server, 'PATCH', `${MAPS}/a`, { data: { late: 'x' } }),
    begin(server, 'PUT', `${MAPS}/a`, { metadata: { name: 'a' }, data: { late: 'x' } }),
    begin(server, 'DELETE', `${MAPS}/a`, { kind: 'DeleteOptions', apiVersion: 'v1' }),
  ];
  while (server.authorized.length < 1 + finish.length) await sleep(5);
  await sleep(200); // the authorization is repeated if it is older than 100 ms
  isAllowed = false;
  for (const one of finish) assert.equal(await one(), 403);
  isAllowed = true;
  const { text } = await send(server, WAYS[0], { method: 'GET', path: MAPS });
  const { items } = JSON.parse(text) as { items: { metadata: { name: string }; data?: object }[] };
  assert.deepEqual(
    items.map(({ metadata, data }) => [metadata.name, data]),
    [['a', undefined]],
  );
});

test('a review with a late body is refused if the user has lost the permission by then', async () => {
  let isAllowed = true;
  const parts = { authenticator: { userOfToken: () => ({ username: 'secret', groups: [] }) }, audiences: [] };
  const decide = () => (isAllowed ? ('allow' as const) : ('no opinion' as const));
  await using server = await TestServer.start({ decide, subresources: reviewHandlers(parts as never) });
  const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token: 't' } };
  const finish = begin(server, 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', review);
  while (server.authorized.length < 1) await sleep(5);
  await sleep(200); // the authorization is repeated if it is older than 100 ms
  isAllowed = false;
  assert.equal(await finish(), 403);
});
