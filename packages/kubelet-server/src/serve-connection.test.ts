import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { serveApi } from './served-api.fixture.ts';

test('the API is served on in-process connections without a port or credentials', async (t) => {
  const { served } = await serveApi(t, { port: 0, authentication: { anonymous: false } as never });
  assert.deepEqual(served.addresses, {});
  for (const path of ['/healthz', '/pods']) {
    const [client, server] = duplexPair();
    served.serveConnection(server);
    const outgoing = request({ path, createConnection: () => client });
    outgoing.end();
    const [response] = await once(outgoing, 'response');
    assert.equal(response.statusCode, 200);
    assert.match(await text(response), path === '/pods' ? /"kind":"PodList"/ : /^ok$/);
  }
});
