import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type DBusMessage, encodeCall } from './dbus-message.ts';
import { MAX_DBUS_MESSAGE_BYTES } from './limits.ts';
import { SystemBus } from './system-bus.ts';

const DESTINATION = { destination: 'a.b', path: '/a', interface: 'a.b' };

function emptyReply(serial: number): Buffer {
  const field = Buffer.from([5, 1, 'u'.charCodeAt(0), 0, serial, 0, 0, 0]);
  const header = Buffer.alloc(16);
  header.set([0x6c, 2, 1, 1]);
  header.writeUInt32LE(serial, 8);
  header.writeUInt32LE(field.length, 12);
  return Buffer.concat([header, field]);
}

/** Encodes a D-Bus signal, as a method call whose type byte is replaced. */
const signal = (member: string, text = '') => {
  const bytes = encodeCall(9, { ...DESTINATION, member, arguments: [text] });
  bytes[1] = 4;
  return bytes;
};

/** A fake D-Bus system bus that responds to authentication with `greeting`, and answers all method calls except those in `unanswered`. */
async function startBus(t: TestContext, greeting = 'OK 0123456789abcdef\r\n') {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-bus-'));
  const server = createServer((socket) => {
    let serial = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      if (text.startsWith('\0AUTH')) socket.write(greeting);
      else if (text.includes('l\x01\0\x01') && !text.includes('unanswered')) socket.write(emptyReply(++serial));
    });
  });
  const path = join(directory, 'bus');
  server.listen(path);
  await once(server, 'listening');
  process.env.DBUS_SYSTEM_BUS_ADDRESS = `unix:path=${path}`;
  t.after(() => {
    delete process.env.DBUS_SYSTEM_BUS_ADDRESS;
    server.close();
    rmSync(directory, { recursive: true });
  });
  return { server };
}

async function open(t: TestContext) {
  const { server } = await startBus(t);
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const received: DBusMessage[] = [];
  const changed: (() => void)[] = [];
  const controller = new AbortController();
  t.after(() => controller.abort());
  const bus = await SystemBus.connect((message) => {
    received.push(message);
    changed.shift()?.();
  }, controller.signal);
  const [peer] = await connected;
  const next = () => new Promise<void>((resolve) => changed.push(resolve));
  return { bus, peer, received, next, controller };
}

test('signals arrive whole, in pieces or several at once, and overlong or invalid messages are skipped', async (t) => {
  const { peer, received, next, bus } = await open(t);
  const broken = signal('Broken');
  broken[17] = 200; // a type longer than the message
  const bytes = Buffer.concat([
    signal('First'),
    broken,
    signal('TooLong', 'x'.repeat(MAX_DBUS_MESSAGE_BYTES)),
    signal('Second'),
  ]);
  const both = next().then(next);
  peer.write(bytes.subarray(0, 30));
  await new Promise(setImmediate);
  peer.write(bytes.subarray(30));
  await both;
  assert.deepEqual(
    received.map(({ member }) => member),
    ['First', 'Second'],
  );
  assert.deepEqual(await bus.call({ ...DESTINATION, member: 'Ping' }), []);
});

test('an unanswered call fails when the connection closes, and so do later calls', async (t) => {
  const { bus, peer } = await open(t);
  const call = bus.call({ ...DESTINATION, member: 'unanswered' });
  peer.destroy();
  await assert.rejects(call, { code: 'unavailable', message: /^call unanswered of a\.b: / });
  assert.match(await bus.closed, /closed|cut/);
  await assert.rejects(bus.call({ ...DESTINATION, member: 'Late' }), /the connection is closed/);
});

test('foreign data and the abort signal each close the connection', async (t) => {
  const first = await open(t);
  first.peer.write('HTTP/1.1 400 Bad Request\r\n\r\n');
  assert.match(await first.bus.closed, /it is not a D-Bus message/);
  const second = await open(t);
  second.controller.abort();
  await second.bus.closed;
});

test('errors name a bus that is missing, rejects the client or has an unsupported address', async (t) => {
  const connect = () => SystemBus.connect(() => undefined, AbortSignal.timeout(5000));
  process.env.DBUS_SYSTEM_BUS_ADDRESS = 'tcp:host=localhost,port=1';
  await assert.rejects(connect(), { code: 'invalid_argument' });
  process.env.DBUS_SYSTEM_BUS_ADDRESS = 'unix:path=/nowhere/bus';
  await assert.rejects(connect(), {
    code: 'unavailable',
    message: /^connect to the system's D-Bus at \/nowhere\/bus: .*(there is no|no such)/i,
  });
  await startBus(t, 'REJECTED EXTERNAL\r\n');
  await assert.rejects(connect(), /it answers "REJECTED EXTERNAL/);
});

test('closed connections leave no listeners on the abort signal', async (t) => {
  const { server } = await startBus(t);
  const { signal } = new AbortController();
  const bus = await SystemBus.connect(() => undefined, signal);
  bus.close('done');
  await bus.closed;
  server.close();
  process.env.DBUS_SYSTEM_BUS_ADDRESS = 'unix:path=/nonexistent';
  await assert.rejects(
    SystemBus.connect(() => undefined, signal),
    { code: 'unavailable' },
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
