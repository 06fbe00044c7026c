import assert from 'node:assert/strict';
import { type Duplex, duplexPair } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { joinConnections } from './proxy-upgrade.ts';
import { collectBuffers } from './read-buffers.ts';
import { SpdyConnection } from './spdy/connection.ts';

const CHUNK = Buffer.alloc(64 << 10);
const SENT_BYTES = 16 << 20;

/** Creates a buffer counter, and records the garbage collections that it triggers. */
function collections(t: TestContext) {
  const gc = t.mock.fn((_options?: NodeJS.GCOptions) => undefined);
  const collected = () => gc.mock.calls.map(({ arguments: [options] }) => options?.type);
  return { countBuffer: collectBuffers(gc as unknown as NodeJS.GCFunction), collected };
}

/** Sends 16 MiB from `source` to `target`, and waits until all of it has arrived. */
async function send(source: Duplex, target: Duplex): Promise<void> {
  let receivedBytes = 0;
  target.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length;
  });
  for (let sentBytes = 0; sentBytes < SENT_BYTES; sentBytes += CHUNK.length) source.write(CHUNK);
  await waitFor(() => receivedBytes === SENT_BYTES || undefined, { intervalMs: 2, signal: AbortSignal.timeout(5000) });
}

test('buffers for data that SPDY connections send and receive are collected in the young generation', async (t) => {
  const { countBuffer, collected } = collections(t);
  const [here, there] = duplexPair();
  const accepted = Promise.withResolvers<Duplex>();
  const onStream = (stream: Duplex) => {
    accepted.resolve(stream);
    return 'accept' as const;
  };
  const server = new SpdyConnection(there, { role: 'server', onStream, countBuffer });
  const client = new SpdyConnection(here, { role: 'client', countBuffer });
  const opened = await client.open({ streamtype: 'stdout' });
  await send(opened, await accepted.promise);
  client.destroy();
  server.destroy();
  assert.deepEqual(collected(), Array(8).fill('minor')); // every 4 MiB of each side
});

test('buffers of joined connections are collected in the young generation, in both directions', async (t) => {
  const [client, socket] = duplexPair();
  const [upstream, runtime] = duplexPair();
  const { countBuffer, collected } = collections(t);
  joinConnections(socket, upstream, countBuffer);
  await send(runtime, client);
  await send(client, runtime);
  client.destroy();
  runtime.destroy();
  assert.deepEqual(collected(), Array(8).fill('minor'));
});
