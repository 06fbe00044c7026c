import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LAST_INTERRUPT_MS } from '../limits.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { run } from './run.ts';

const MANIFEST = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: b}]}\n';
const APPLIED = { objects: [{ kind: 'Pod', namespace: 'default', name: 'web', uid: 'u1', action: 'created' }] };
const NODE = { name: 'n', version: '1', pid: 1, manifestDir: '/m', podLogsDir: '/l' };

/** A run on a node that says how a pod is deleted; it watches its pods once this is given. */
async function startedRun(t: TestContext, remove: (response: ServerResponse) => void) {
  const directory = mkdtempSync('/tmp/run-');
  const apiSocket = join(directory, 'node.sock');
  const runtime = { name: 'r', version: '1', apiVersion: 'v1', endpoint: 'e' };
  const podDefaults = { seccomp: 'RuntimeDefault' };
  const watched = Promise.withResolvers<void>();
  const watching = Promise.withResolvers<void>();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/podwright/v1/node') return response.end(JSON.stringify({ ...NODE, runtime, podDefaults }));
    if (request.method === 'POST') return response.end(JSON.stringify(APPLIED));
    if (request.method === 'DELETE') return remove(response);
    if (request.url === '/api/v1/pods') return response.end('{"items": []}');
    response.writeHead(200).flushHeaders();
    if (!request.url!.startsWith('/api/v1/namespaces/default/pods?')) return undefined;
    response.on('close', watched.resolve);
    return watching.resolve();
  };
  const server = createServer(answer).listen(apiSocket);
  await once(server, 'listening');
  const before = process.eventNames();
  t.after(() => {
    for (const name of process.eventNames()) if (!before.includes(name)) process.removeAllListeners(name);
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const file = join(directory, 'web.yaml');
  writeFileSync(file, MANIFEST);
  const context = {
    config: { apiSocket, root: directory, state: directory },
    configArgs: [],
  } as unknown as CommandContext;
  const running = run([file], {}, context);
  await watching.promise;
  return { running, watched: watched.promise };
}

test('run ends its watch also when the pods cannot be stopped', async (t) => {
  const { running, watched } = await startedRun(t, (response) => response.writeHead(500).end('no'));
  for (const _signal of [1, 2]) process.emit('SIGINT');
  await assert.rejects(running, { message: 'no' });
  await watched;
});

test('run ends at the third Ctrl-C, whatever the node does, unless it comes with the second', async (t) => {
  const { running, watched } = await startedRun(t, () => undefined);
  for (const _signal of [1, 2, 3]) process.emit('SIGINT');
  const first = await Promise.race([running, sleep(LAST_INTERRUPT_MS + 100, 'it waits')]);
  assert.equal(first, 'it waits');
  process.emit('SIGINT');
  assert.equal(await running, 130);
  await watched;
});
