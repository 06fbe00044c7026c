import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { framed } from '../wire/tcp-frames.ts';
import { TcpServer } from './tcp-server.ts';
import { Turns } from './turns.ts';
import { serveUdp } from './udp-server.ts';

/** A responder that uses 3 ms of CPU time per reply. */
class SlowResponder {
  readonly clients: string[] = [];

  reply(request: Buffer, { address }: { address: string }): Buffer {
    this.clients.push(address);
    for (const endMs = performance.now() + 3; performance.now() < endMs; );
    return request;
  }
}

const LOCAL = { address: '127.0.0.1', port: 0 };
const settled = { intervalMs: 2, signal: AbortSignal.timeout(20_000) };
const query = Buffer.alloc(40);

/** Counts how often the event loop gets to run other work. */
function otherWork() {
  const work = { count: 0, [Symbol.dispose]: () => clearImmediate(next) };
  const run = () => {
    work.count++;
    next = setImmediate(run);
  };
  let next = setImmediate(run);
  return work;
}

test('a closed connection gets no more answers, and its questions leave time for other work', async () => {
  const responder = new SlowResponder();
  await using server = await TcpServer.listen(LOCAL, { responder, turns: new Turns() });
  const socket = connect(server.port, LOCAL.address);
  socket.write(Buffer.concat(Array.from({ length: 1000 }, () => framed(query))));
  using work = otherWork();
  await waitFor(() => responder.clients.length >= 20 || undefined, settled);
  assert.ok(work.count >= 5, `other work ran ${work.count} times`);
  socket.resetAndDestroy();
  let before = -1;
  await waitFor(
    async () => {
      const isQuiet = before === responder.clients.length;
      before = responder.clients.length;
      return isQuiet || undefined;
    },
    { ...settled, intervalMs: 100 },
  );
  assert.ok(before < 500, `${before} questions were answered`);
});

test('a client’s questions wait only for their own turns', async () => {
  const responder = new SlowResponder();
  const options = { responder, turns: new Turns(), logger: silentLogger };
  const server = await serveUdp(LOCAL, options);
  const [many, one] = [createSocket('udp4'), createSocket('udp4')];
  one.bind(0, '127.0.0.2');
  await once(one, 'listening');
  try {
    const { port } = server.address();
    for (let count = 0; count < 200; count++) many.send(query, port, LOCAL.address);
    await waitFor(() => responder.clients.length > 0 || undefined, settled);
    using work = otherWork();
    one.send(query, port, LOCAL.address);
    await once(one, 'message', { signal: settled.signal });
    assert.ok(responder.clients.length < 100, `${responder.clients.length} questions were answered before`);
    assert.ok(work.count >= 1);
  } finally {
    for (const socket of [many, one, server]) socket.close();
  }
});

test('each client’s turns are sequential', async () => {
  const turns = new Turns();
  const ran: string[] = [];
  for (const piece of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) turns.add(piece[0]!, () => ran.push(piece));
  assert.deepEqual([turns.waitingOf('a'), turns.waitingOf('d')], [3, 0]);
  await waitFor(() => ran.length === 6 || undefined, settled);
  assert.deepEqual(ran, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});
