import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { getDocument } from './get-document.ts';

test('the caller’s headers override the defaults case-insensitively, except Host and Connection', async (t) => {
  const server = createServer(({ rawHeaders }, response) => response.end(JSON.stringify(rawHeaders)));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  const fields = { host: ['elsewhere'], 'user-agent': ['mine'], CONNECTION: ['keep-alive'], 'X-A': ['1', '2'] };
  const signal = AbortSignal.timeout(10_000);
  const options = {
    fields,
    maxBytes: 10_000,
    refusal: () => new Error('large'),
    checkRedirect: () => undefined,
    signal,
  };
  const { body } = await getDocument(new URL(`http://127.0.0.1:${port}/`), options);
  const sent: string[] = JSON.parse(String(body));
  const values = (name: string) =>
    sent.filter((_, index) => sent[index - 1]?.toLowerCase() === name && index % 2 === 1);
  assert.deepEqual(values('host'), [`127.0.0.1:${port}`]);
  assert.deepEqual(values('user-agent'), ['mine']);
  assert.deepEqual(values('connection'), ['close']);
  assert.deepEqual(values('x-a'), ['1', '2']);
});
