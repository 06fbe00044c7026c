import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NODES, PODS } from '../resources.ts';
import { answer, type Handler, TestServer } from '../test-server.fixture.ts';
import { bearerToken, createKubeClient } from './create-kube-client.ts';

const POD = { kind: 'Pod', apiVersion: 'v1', metadata: { namespace: 'shop', name: 'web', uid: 'u1' } };
const WEB = { namespace: 'shop', name: 'web' };

for (const [kind, version] of [
  ['h2', '2.0'],
  ['https', '1.1'],
  ['http', '1.1'],
] as const) {
  test(`calls over ${kind}`, async () => {
    const handle: Handler = (_request, response) => answer(response, 200, POD);
    await using server = await TestServer.start(kind, handle);
    const client = createKubeClient({ server: server.url, tls: server.tls, authorization: bearerToken('secret') });
    assert.deepEqual(await client.get(PODS, WEB), POD);
    await client.create(PODS, POD);
    await client.update(PODS, POD);
    await client.patch(PODS, WEB, { type: 'strategic', body: { status: {} }, subresource: 'status' });
    const metadata = await client.patchForMetadata(PODS, WEB, { type: 'merge', body: {} });
    assert.deepEqual(metadata, POD.metadata);
    await client.delete(PODS, WEB, { gracePeriodSeconds: 0 });
    await client.deleteCollection(PODS, { namespace: 'shop', labelSelector: 'a=b' });
    assert.deepEqual(
      server.requests.map(({ method, url }) => `${method} ${url}`),
      [
        'GET /api/v1/namespaces/shop/pods/web',
        'POST /api/v1/namespaces/shop/pods',
        'PUT /api/v1/namespaces/shop/pods/web',
        'PATCH /api/v1/namespaces/shop/pods/web/status',
        'PATCH /api/v1/namespaces/shop/pods/web',
        'DELETE /api/v1/namespaces/shop/pods/web',
        'DELETE /api/v1/namespaces/shop/pods?labelSelector=a%3Db',
      ],
    );
    const [first, ...rest] = server.requests;
    assert.equal(first!.headers.authorization, 'Bearer secret');
    assert.match(String(first!.headers['user-agent']), /^podwright\/[\d.]+ \(linux\/\w+\)$/);
    assert.equal(rest[2]!.headers['content-type'], 'application/strategic-merge-patch+json');
    assert.equal(rest[2]!.headers.accept, 'application/json');
    assert.match(String(rest[3]!.headers.accept), /^application\/json;as=PartialObjectMetadata;.*,application\/json$/);
    assert.deepEqual(JSON.parse(rest[4]!.body), { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 });
    assert.deepEqual(new Set(server.requests.map(({ httpVersion }) => httpVersion)), new Set([version]));
    client.close();
  });
}

test('lists and watches a resource', async () => {
  await using server = await TestServer.start('h2', ({ url }, response) => {
    if (!url.includes('watch=')) return answer(response, 200, { metadata: { resourceVersion: '7' }, items: [POD] });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify({ type: 'ADDED', object: POD })}\n`);
  });
  const client = createKubeClient({ server: server.url, tls: server.tls });
  const { items, metadata } = await client.list(NODES, { fieldSelector: 'metadata.name=a', limit: 5 });
  assert.deepEqual([items.length, metadata.resourceVersion], [1, '7']);
  const events = [];
  const options = { resourceVersion: '7', timeoutSeconds: 300 };
  for await (const event of client.watch(NODES, options, new AbortController().signal)) events.push(event);
  assert.deepEqual(events, [{ type: 'ADDED', object: POD }]);
  assert.equal(server.requests[0]!.url, '/api/v1/nodes?fieldSelector=metadata.name%3Da&limit=5');
  assert.equal(
    server.requests[1]!.url,
    '/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300',
  );
  client.close();
});
