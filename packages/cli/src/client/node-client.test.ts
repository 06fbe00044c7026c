import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { VERSION } from '@podwright/base';
import { NodeClient } from './node-client.ts';
import { hasStarted, markStarting } from './starting-node.ts';

/** Starts a fake node that responds to every request with `body`. Returns a client for it. */
async function nodeAnswering(t: TestContext, body: string, statusCode = 200): Promise<NodeClient & { server: Server }> {
  const directory = mkdtempSync('/tmp/node-client-');
  const socket = join(directory, 'node.sock');
  const server = createServer((_request, response) => response.writeHead(statusCode).end(body));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => {
    server.close();
    rmSync(directory, { recursive: true });
  });
  return Object.assign(new NodeClient(socket), { server });
}

test('a response with an unexpected shape is an error that names the wrong field', async (t) => {
  const check = async (body: object | string, call: (client: NodeClient) => Promise<unknown>, message: RegExp) => {
    const client = await nodeAnswering(t, typeof body === 'string' ? body : JSON.stringify(body));
    await assert.rejects(call(client), { code: 'internal', message });
  };
  const metadata = { name: 'a', namespace: 'b', uid: 'c' };
  await check('<html>', (client) => client.node(), /^read the node's answer: Unexpected token/);
  await check(
    { name: 'n', version: '1' },
    (client) => client.node(),
    /^read the node's answer: pid: .*see 'podwright version'/,
  );
  await check({ items: [{ metadata }] }, (client) => client.pods(), /items\.0\.spec: /);
  await check({ metadata, spec: { containers: 'no' } }, (client) => client.pod('b', 'a'), /spec\.containers: /);
  await check({ objects: [{}] }, (client) => client.apply(''), /objects\.0\.kind: /);
  await check([{ name: 'x' }], (client) => client.traces('c'), /0\.startMs: /);
  const watch = async (client: NodeClient) => {
    for await (const { type } of client.watchPods(new AbortController().signal)) assert.fail(`unexpected ${type}`);
  };
  await check('{"type":"ADDED","object":{}}\n', watch, /object\.metadata: /);
});

test('an unknown path or unreadable response from a node of another version is an error that names both versions', async (t) => {
  const skew = /; the node runs podwright 0\.0\.9, this command is .*: 'podwright upgrade' restarts the node$/;
  const answering = async (answers: Record<string, [number, string]>) => {
    const client = await nodeAnswering(t, '');
    client.server.removeAllListeners('request').on('request', ({ url }, response) => {
      const [statusCode, body] = answers[url!] ?? [404, '404 page not found'];
      response.writeHead(statusCode).end(body);
    });
    return client;
  };
  const node = JSON.stringify({ version: '0.0.9' });
  const earlier = await answering({ '/podwright/v1/node': [200, node], '/api/v1/pods': [200, '{"items":1}'] });
  await assert.rejects(earlier.pods(), { code: 'internal', message: skew });
  await assert.rejects(earlier.traces('uid'), { code: 'not_found', message: skew });
  const same = await answering({ '/podwright/v1/node': [200, JSON.stringify({ version: VERSION })] });
  await assert.rejects(same.traces('uid'), { code: 'not_found', message: '404 page not found' });
  const missing = [404, '{"message":"no such pod"}'] as [number, string];
  const other = await answering({ '/podwright/v1/node': [200, node], '/api/v1/pods': missing });
  await assert.rejects(other.pods(), { code: 'not_found', message: 'no such pod' });
});

test('unknown fields are kept', async (t) => {
  const pod = { metadata: { name: 'a', namespace: 'b', uid: 'c', newer: 1 }, spec: { containers: [] }, newer: [2] };
  const client = await nodeAnswering(t, JSON.stringify(pod));
  assert.deepEqual(await client.pod('b', 'a'), pod);
});

test('an error has its Status object’s message, or else the response text', async (t) => {
  const listPods = async (body: string) => (await nodeAnswering(t, body, 404)).pods();
  await assert.rejects(listPods('{"kind":"Status","message":"no such pod"}'), {
    code: 'not_found',
    message: 'no such pod',
  });
  await assert.rejects(listPods('{"message":5}'), { code: 'not_found', message: '{"message":5}' });
  await assert.rejects(listPods('plain'), { code: 'not_found', message: 'plain' });
});

test('a call waits for a starting node, but not for one that died during startup', async (t) => {
  const directory = mkdtempSync('/tmp/node-client-');
  t.after(() => rmSync(directory, { recursive: true }));
  const socket = join(directory, 'node.sock');
  const client = new NodeClient(socket);
  writeFileSync(join(directory, 'starting-1-1'), ''); // of a process that has exited
  await assert.rejects(client.pods(), { code: 'unavailable', message: /no node is running/ });
  const starting = markStarting(directory);
  const pods = client.pods();
  const server = createServer((_request, response) => response.end('{"items":[]}')).listen(socket);
  t.after(() => server.close());
  await once(server, 'listening');
  starting[Symbol.dispose]();
  assert.deepEqual(await pods, []);
});

test('a node restarting in its process counts as starting again, whatever its earlier start reported', async (t) => {
  const directory = mkdtempSync('/tmp/node-client-');
  t.after(() => rmSync(directory, { recursive: true }));
  const first = markStarting(directory);
  first[Symbol.dispose]();
  markStarting(directory);
  first[Symbol.dispose]();
  assert.equal(readdirSync(directory).length, 1);
});

test('a node that failed to start does not count as started', async (t) => {
  const directory = mkdtempSync('/tmp/node-client-');
  t.after(() => rmSync(directory, { recursive: true }));
  const starting = markStarting(directory);
  const started = hasStarted(join(directory, 'node.sock'));
  starting[Symbol.dispose]();
  assert.equal(await started, false);
});
