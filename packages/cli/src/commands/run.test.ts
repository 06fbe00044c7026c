import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

type Answer = (response: ServerResponse) => unknown;
const applied: Answer = (response) => response.end(JSON.stringify(APPLIED));

/**
 * Starts `podwright run` against a node that responds to apply and delete requests as given. Resolves when the command is watching its
 * pods, or waiting for the response to its apply request.
 */
async function startedRun(t: TestContext, { apply = applied, remove }: { apply?: Answer; remove: Answer }) {
  const directory = mkdtempSync('/tmp/run-');
  const apiSocket = join(directory, 'node.sock');
  const runtime = { name: 'r', version: '1', apiVersion: 'v1', endpoint: 'e' };
  const podDefaults = { seccomp: 'RuntimeDefault' };
  const watched = Promise.withResolvers<void>();
  const watching = Promise.withResolvers<void>();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/podwright/v1/node') return response.end(JSON.stringify({ ...NODE, runtime, podDefaults }));
    if (request.method === 'POST') {
      if (apply !== applied) watching.resolve();
      return apply(response);
    }
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
  const records = () => readdirSync(directory).filter((name) => /^run-.*json$/.test(name));
  return { running, watched: watched.promise, records };
}

test('run ends its watch even if the pods cannot be stopped', async (t) => {
  const { running, watched } = await startedRun(t, { remove: (response) => response.writeHead(500).end('no') });
  for (const _signal of [1, 2]) process.emit('SIGINT');
  await assert.rejects(running, { message: 'no' });
  await watched;
});

test('run exits on the third Ctrl-C even if the node does not respond, but not right after the second', async (t) => {
  const { running, watched, records } = await startedRun(t, { remove: () => undefined });
  for (const _signal of [1, 2, 3]) process.emit('SIGINT');
  const first = await Promise.race([running, sleep(LAST_INTERRUPT_MS + 100, 'it waits')]);
  assert.equal(first, 'it waits');
  process.emit('SIGINT');
  assert.equal(await running, 130);
  await watched;
  assert.equal(records().length, 1, 'the record of the run is kept for the next run');
});

test('the third Ctrl-C also ends a run still waiting for its first response', async (t) => {
  const write = t.mock.method(process.stderr, 'write', () => true);
  const { running } = await startedRun(t, { apply: () => undefined, remove: () => undefined });
  for (const _signal of [1, 2]) process.emit('SIGINT');
  await sleep(LAST_INTERRUPT_MS + 100);
  process.emit('SIGINT');
  assert.equal(await Promise.race([running, sleep(LAST_INTERRUPT_MS, 'it waits')]), 130);
  const out = write.mock.calls.map(({ arguments: [text] }) => String(text)).join('');
  assert.match(out, /may still be there.*'podwright ps'/);
});
