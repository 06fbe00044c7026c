import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { send, WAYS } from '../server/test-client.fixture.ts';
import { testFlows } from '../server/test-flows.fixture.ts';
import { TestServer } from '../server/test-server.fixture.ts';
import { DirectCalls } from './direct-calls.ts';

const path = '/api/v1/namespaces/x/pods';
const call = { method: 'GET', path, what: 'list the pods' } as const;

test('in-process calls and network requests have the same limits', async () => {
  const resource = { list: () => new Promise<never>(() => undefined) };
  await using server = await TestServer.start({ resource, flowControl: testFlows(2), maxLongRunning: 0 });
  const calls = new DirectCalls(server.parts, { username: 'alice', groups: [] });
  const ended = new AbortController();
  const { signal } = ended;
  const hanging = calls.text(call, { signal });
  await waitFor(() => server.authorized.length === 1 || undefined, {
    intervalMs: 5,
    signal: AbortSignal.timeout(5000),
  });
  assert.equal((await send(server, WAYS[1], { path, user: 'alice' })).status, 429);
  const tooMany = { message: /Too many requests/ };
  const timeoutMs = 100;
  await assert.rejects(calls.text(call, { timeoutMs }), tooMany);
  await assert.rejects(calls.watch({ ...call, path: `${path}?watch=1` }, {} as never, AbortSignal.timeout(100)).next());
  ended.abort(new Error('no longer needed'));
  await assert.rejects(hanging, { message: 'no longer needed' });
  assert.equal((await send(server, WAYS[1], { path: '/livez', user: 'alice' })).status, 200);
});
