import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { SpdyConnection } from '../spdy/connection.ts';
import { acceptSpdyCommand, type SpdyCommandRequest } from './spdy-command.ts';

function accept(request: Partial<SpdyCommandRequest> = {}) {
  const [here, there] = duplexPair();
  const choice = { stdin: true, stdout: true, stderr: true, tty: false };
  const accepted = acceptSpdyCommand(there, {
    choice,
    protocol: 'v4.channel.k8s.io',
    head: Buffer.alloc(0),
    ...request,
  });
  return { accepted, client: new SpdyConnection(here, { role: 'client' }) };
}

test('announced streams are accepted once each, others are rejected', async () => {
  const { accepted, client } = accept();
  await client.open({ streamtype: 'error' });
  await assert.rejects(client.open({ streamtype: 'resize' }), { code: 'cancelled' });
  await assert.rejects(client.open({}), { code: 'cancelled' });
  await client.open({ streamtype: 'stdin' });
  await assert.rejects(client.open({ streamtype: 'stdin' }), { code: 'cancelled' });
  await client.open({ streamtype: 'stderr' });
  await client.open({ streamtype: 'stdout' });
  const { streams } = await accepted;
  assert.deepEqual([streams.stdin?.readable, streams.resize], [true, undefined]);
});

test('a terminal has a resize stream (since v3) and no stderr', async () => {
  const choice = { stdin: false, stdout: true, stderr: true, tty: true };
  for (const [protocol, names] of [
    ['v4.channel.k8s.io', ['error', 'stdout', 'resize']],
    ['v2.channel.k8s.io', ['error', 'stdout']],
  ] as const) {
    const { accepted, client } = accept({ choice, protocol });
    await Promise.all(names.map((streamtype) => client.open({ streamtype })));
    const { streams } = await accepted;
    assert.deepEqual([streams.stderr, streams.structuredStatus], [undefined, protocol.startsWith('v4')]);
  }
});

test('a timeout waiting for the announced streams ends the connection, and the error names the missing ones', async () => {
  const { accepted, client } = accept({ streamsTimeoutMs: 20 });
  const rejected = assert.rejects(accepted, /stdout, stderr were not opened/);
  await client.open({ streamtype: 'error' });
  await client.open({ streamtype: 'stdin' });
  await rejected;
  await client.closed;
});

test('a client disconnect ends the wait for its streams', async () => {
  const { accepted, client } = accept();
  client.close();
  await assert.rejects(accepted, { code: 'unavailable' });
});
