import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { seededRandom } from '../random.fixture.ts';
import { descriptors, eventually } from '../server/shell.fixture.ts';
import { StreamingServer } from '../server/streaming-server.ts';
import { PortForwarder } from './port-forward.ts';
import { connectSpdy } from './upgrade.ts';

const server = new StreamingServer({ address: '127.0.0.1', port: 0, logger: silentLogger });
before(() => server.listen());
after(() => server.close());

const dial = async (port: number) => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
};

/** Starts a server in place of the pod's, and a forwarder that connects to it. */
async function pod(serve: (socket: Socket) => void) {
  const open = new Set<Socket>();
  const listener = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const forwarder = new PortForwarder({ url: server.url({ kind: 'portforward', dial }) });
  return {
    port,
    open,
    forwarder,
    [Symbol.dispose]: () => {
      forwarder.close();
      listener.close();
    },
  };
}

/**
 * Listener for local connections. `arrived` maps the client's port of each connection to the connection's server end, which is passed to
 * the forwarder.
 */
const localListener = createServer({ allowHalfOpen: true });
const arrived = new Map<number, Socket>();
localListener.on('connection', (end) => arrived.set(end.remotePort!, end));
before(() => new Promise<void>((resolve) => localListener.listen(0, '127.0.0.1', resolve)));
after(() => localListener.close());

/** Opens a local connection and returns its two ends: the user's, and the one that is passed to the forwarder. */
async function local(): Promise<[Socket, Socket]> {
  const { port } = localListener.address() as { port: number };
  const user = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
  await once(user, 'connect');
  await eventually(() => arrived.has(user.localPort!));
  const end = arrived.get(user.localPort!)!;
  arrived.delete(user.localPort!);
  return [user, end];
}

test('connections are forwarded concurrently, and each direction ends independently', async () => {
  using web = await pod((socket) => socket.pipe(socket));
  const texts = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const [user, end] = await local();
      const over = web.forwarder.forward(end, web.port);
      user.end(`request ${index}`);
      const answer = await text(user);
      await over;
      return answer;
    }),
  );
  assert.deepEqual(
    texts,
    Array.from({ length: 20 }, (_, index) => `request ${index}`),
  );
});

test('twenty megabytes are forwarded completely in both directions', async () => {
  using web = await pod((socket) => socket.pipe(socket));
  const [user, end] = await local();
  const over = web.forwarder.forward(end, web.port);
  const sent = Buffer.alloc(20 << 20, Buffer.from([0, 255, 13, 10]));
  user.end(sent);
  assert.ok((await buffer(user)).equals(sent));
  await over;
});

test('a server that ends first still receives the data in flight', async () => {
  let received = 0;
  using web = await pod((socket) => {
    socket.end('banner');
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
  });
  const [user, end] = await local();
  const over = web.forwarder.forward(end, web.port);
  // Node.js 26 destroys both directions of a socket once iteration ends, unless `destroyOnReturn` is false
  assert.equal(await text(user.iterator({ destroyOnReturn: false })), 'banner');
  user.end(Buffer.alloc(10 << 20));
  await over;
  await eventually(() => received === 10 << 20);
});

test('a port without a listener is reported, and other connections are not affected', async () => {
  using web = await pod((socket) => socket.pipe(socket));
  const [user, end] = await local();
  const over = web.forwarder.forward(end, web.port);
  await assert.rejects(
    web.forwarder.forward((await local())[1], 1),
    /error forwarding port 1 to the pod: .*connection refused/,
  );
  user.end('still here');
  assert.equal(await text(user), 'still here');
  await over;
});

test('a connection reset on one side is closed on the other, and other connections are not affected', async () => {
  using web = await pod((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const [user, end] = await local();
  user.write('x');
  const rejected = assert.rejects(web.forwarder.forward(end, web.port), { code: 'unavailable' });
  user.resume();
  await rejected;
  const [gone, goneEnd] = await local();
  const over = web.forwarder.forward(goneEnd, web.port);
  await eventually(() => web.open.size === 1);
  gone.resetAndDestroy();
  await over;
  await eventually(() => web.open.size === 0);
  await web.forwarder.connect();
});

test('a client disconnect ends its connections, including stalled and incomplete ones', async () => {
  const { promise: never } = Promise.withResolvers<never>();
  const aborted: boolean[] = [];
  using web = await pod((socket) => socket.pause());
  const hanging = async (port: number, signal: AbortSignal) => {
    if (port !== 1) return dial(port);
    signal.addEventListener('abort', () => aborted.push(true));
    return never;
  };
  const { connection } = await connectSpdy(
    { url: server.url({ kind: 'portforward', dial: hanging }) },
    { protocols: ['portforward.k8s.io'] },
  );
  const open = (port: number, streamtype: string, requestid: string) =>
    connection.open({ port: String(port), streamtype, requestid });
  await open(1, 'error', 'b');
  await open(1, 'data', 'b');
  await open(2, 'data', 'half a pair');
  await open(web.port, 'error', 'a');
  (await open(web.port, 'data', 'a')).write(Buffer.alloc(16 << 20));
  await eventually(() => web.open.size === 1);
  connection.destroy();
  for (const socket of web.open) socket.resume();
  await eventually(() => web.open.size === 0 && aborted.length === 1);
});

test('invalid ports and duplicate streams are rejected', async () => {
  const { connection } = await connectSpdy(
    { url: server.url({ kind: 'portforward', dial }) },
    { protocols: ['portforward.k8s.io'] },
  );
  for (const port of ['0', '65536', '-1', '1e3', '', 'http'])
    await assert.rejects(connection.open({ streamtype: 'data', port, requestid: '1' }), { code: 'cancelled' });
  await assert.rejects(connection.open({ streamtype: 'stdin', port: '80', requestid: '1' }), { code: 'cancelled' });
  await connection.open({ streamtype: 'error', port: '80', requestid: '2' });
  await assert.rejects(connection.open({ streamtype: 'error', port: '80', requestid: '2' }), { code: 'cancelled' });
  connection.destroy();
});

test('a forwarder reconnects after losing its connection, if the target permits', async () => {
  using web = await pod((socket) => socket.pipe(socket));
  const first = new StreamingServer({ address: '127.0.0.1', port: 0, logger: silentLogger });
  await first.listen();
  const urls = [first, server].map((each) => each.url({ kind: 'portforward', dial }));
  const target = {
    get url() {
      return urls.shift()!;
    },
  };
  using forwarder = new PortForwarder(target);
  const [user, end] = await local();
  user.resume();
  const lost = assert.rejects(forwarder.forward(end, web.port), { code: 'unavailable' });
  await eventually(() => web.open.size === 1);
  await first.close();
  await lost;
  const [again, againEnd] = await local();
  const over = forwarder.forward(againEnd, web.port);
  again.end('back');
  assert.equal(await text(again), 'back');
  await over;
});

test('a closed forwarder forwards nothing', async () => {
  const forwarder = new PortForwarder({ url: server.url({ kind: 'portforward', dial }) });
  await forwarder.connect();
  forwarder.close();
  await assert.rejects(forwarder.forward((await local())[1], 80), { code: 'cancelled' });
  const nowhere = new PortForwarder({ url: 'http://127.0.0.1:1/portforward/x' });
  await assert.rejects(nowhere.connect(), { code: 'unavailable' });
});

test('opening, aborting and ending two hundred connections in any order leaks no descriptors', async () => {
  const random = seededRandom(2028);
  using web = await pod((socket) => {
    const end = random(4);
    if (end === 0) socket.destroy();
    else if (end === 1) socket.resume().end('bye');
    else socket.pipe(socket);
  });
  await web.forwarder.connect();
  const before = descriptors();
  const one = async () => {
    const [user, end] = await local();
    user.resume();
    const over = web.forwarder.forward(end, random(10) === 0 ? 1 : web.port).catch(() => undefined);
    user.write(Buffer.alloc(random(200_000)));
    const timer = setTimeout(() => (random(2) === 0 ? user.destroy() : user.end()), random(30));
    await over;
    clearTimeout(timer);
    user.destroy();
  };
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, one));
  await eventually(() => web.open.size === 0 && descriptors() <= before);
});
