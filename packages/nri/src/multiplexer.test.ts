import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { Multiplexer } from './multiplexer.ts';

async function pair(): Promise<{ near: Socket; far: Socket; close: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  return { near, far, close: () => server.close() };
}

test('connections on one stream do not mix, and a large write arrives complete', async () => {
  const { near, far, close } = await pair();
  const [one, other] = [new Multiplexer(near), new Multiplexer(far)];
  const [a, b] = [one.open(1), one.open(2)];
  const received = [other.open(1), other.open(2)].map((connection) => {
    const chunks: Buffer[] = [];
    connection.on('data', (chunk: Buffer) => chunks.push(chunk));
    return { connection, chunks };
  });
  const large = Buffer.alloc(3 << 20, 'a');
  a.write(large);
  b.write('b');
  a.end('!');
  const size = () => Buffer.concat(received[0]!.chunks).length;
  while (size() < large.length + 1) await once(received[0]!.connection, 'data');
  assert.ok(Buffer.concat(received[0]!.chunks).equals(Buffer.concat([large, Buffer.from('!')])));
  assert.equal(Buffer.concat(received[1]!.chunks).toString(), 'b');
  one.close();
  await once(received[1]!.connection, 'close');
  close();
});

test('the first frame of a write has at most 4096 bytes, the size of read buffers in Go', async () => {
  const { near, far, close } = await pair();
  new Multiplexer(near).open(2).write(Buffer.alloc(10_000));
  const bytes: Buffer[] = [];
  far.on('data', (chunk: Buffer) => bytes.push(chunk));
  while (Buffer.concat(bytes).length < 10_016) await once(far, 'data');
  const all = Buffer.concat(bytes);
  assert.deepEqual([all.readUInt32BE(0), all.readUInt32BE(4), all.readUInt32BE(8 + 4096 + 4)], [2, 4096, 5904]);
  near.destroy();
  close();
});

test('a frame for a closed connection is ignored, and one over 4 MiB ends the stream', async () => {
  const { near, far, close } = await pair();
  const connection = new Multiplexer(near).open(1);
  const chunks: Buffer[] = [];
  connection.on('data', (chunk: Buffer) => chunks.push(chunk));
  const frame = (id: number, length: number, payload: string) => {
    const header = Buffer.alloc(8);
    header.writeUInt32BE(id, 0);
    header.writeUInt32BE(length, 4);
    return Buffer.concat([header, Buffer.from(payload)]);
  };
  far.write(Buffer.concat([frame(7, 3, 'xxx'), frame(1, 0, ''), frame(1, 2, 'ok'), frame(1, 0xffff_ffff, '')]));
  await once(connection, 'close');
  assert.equal(Buffer.concat(chunks).toString(), 'ok');
  close();
});
