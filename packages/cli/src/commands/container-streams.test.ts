import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { BoundedBytes } from '@podwright/base';
import { runInContainer } from './container-streams.ts';

test('what is copied goes to the runtime itself, by way of the node where that is out of reach', async (t) => {
  const directory = mkdtempSync('/tmp/container-streams-');
  t.after(() => rmSync(directory, { recursive: true }));
  const serve = async (listener: RequestListener, at?: string) => {
    // an upgrade that nobody listens for is a request like any other
    const server = createServer(listener);
    if (at === undefined) server.listen(0, '127.0.0.1');
    else server.listen(at);
    await once(server, 'listening');
    t.after(() => server.close());
    return server.address();
  };
  const { port } = (await serve((_, response) => response.writeHead(503).end('the runtime'))) as AddressInfo;
  let place: object | undefined;
  const socketPath = join(directory, 'node.sock');
  await serve(({ url = '' }, response) => {
    if (url.startsWith('/api/v1/namespaces/default/pods/web/exec?command=cat&'))
      response.writeHead(503).end('the node');
    else if (place === undefined) response.writeHead(404).end('{}');
    else response.end(JSON.stringify(place));
  }, socketPath);

  const target = { socketPath, pod: { metadata: { namespace: 'default', name: 'web' } }, container: 'c' };
  const check = async (answer: object | undefined, who: string) => {
    place = answer;
    const call = { command: ['cat'], stdin: Readable.from([]), stderr: new BoundedBytes(100) };
    await assert.rejects(runInContainer(target, call), { message: who });
  };
  const [url, network] = [`http://127.0.0.1:${port}/exec/token`, readlinkSync('/proc/self/ns/net')];
  await check({ url, network }, 'the runtime');
  await check({ url, network: 'net:[1]' }, 'the node');
  await check({ url: url.replace('http', 'https'), network }, 'the node');
  await check(undefined, 'the node');
});
