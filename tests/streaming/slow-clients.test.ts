/** Clients that send their request or read their response too slowly, on the streaming server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { StreamingServer } from '@podwright/streaming';

const server = new StreamingServer({ address: '127.0.0.1', port: 0, logger: silentLogger });
let started = 0;
before(() => server.listen());
after(() => server.close());

function url(): URL {
  const choice = { stdin: false, stdout: true, stderr: false, tty: false };
  const start = async () => {
    started++;
    return assert.fail('no client may get this far');
  };
  return new URL(server.url({ kind: 'exec', choice, start }));
}

/** Returns how long (ms) the streaming server keeps a connection open while these bytes are sent on it, one every 100 ms. */
async function lifetimeOf(bytes: string): Promise<number> {
  const socket = connect(Number(url().port), '127.0.0.1').on('error', () => undefined);
  const startedAt = performance.now();
  let sent = 0;
  const sending = setInterval(() => socket.write(bytes[sent++] ?? ''), 100);
  await once(socket.resume(), 'close', { signal: AbortSignal.timeout(60_000) });
  clearInterval(sending);
  return performance.now() - startedAt;
}

test('connections that send nothing, or a header byte by byte, are closed within fifteen seconds', async () => {
  const lifetimes = await Promise.all([lifetimeOf(''), lifetimeOf(`POST / HTTP/1.1\r\n${'x: slow\r\n'.repeat(100)}`)]);
  assert.ok(
    lifetimes.every((lifetimeMs) => lifetimeMs < 15_000),
    lifetimes.join(),
  );
});

test('an upgraded connection without streams or with half a frame is closed without having started a command', async () => {
  const slow = async (frame: string) => {
    const { pathname, port } = url();
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n${frame}`);
    await once(socket.resume(), 'close', { signal: AbortSignal.timeout(60_000) });
  };
  await Promise.all([slow(''), slow('\x80\x03\x00')]);
  assert.equal(started, 0);
});
