/**
 * `flood.child.ts KIND PORT`: as the user `nobody`, opens connections to a port on 127.0.0.1, from 200 addresses and as fast as one process
 * can. Prints a line once the flood has started and, on SIGTERM, the number of connections opened.
 */
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What the clients send: nothing, or the first message of a TLS handshake. */
export type FloodKind = 'silent' | 'silentBeyondQueue' | 'hello';

/** Number of connections held open. The kernel defers accepting silent ones, up to 4096. */
const HELD: Record<FloodKind, number> = { silent: 3000, silentBeyondQueue: 10_000, hello: 3000 };
const NOBODY = 65_534;

async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connectTls({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  client.on('error', () => undefined);
  const [socket] = await once(server, 'connection');
  const [bytes] = await once(socket, 'data');
  socket.destroy();
  server.close();
  return bytes;
}

/**
 * Opens connections, and closes each with a reset when another one takes its place. The constants are from socket(2) and ip(7); addresses
 * are in network byte order.
 */
function floodWith(bytes: Buffer, { port, held: most }: { port: number; held: number }): void {
  const koffi = createRequire(new URL('../../packages/runtime/package.json', import.meta.url))('koffi');
  const libc = koffi.load(null);
  const socket = libc.func('int socket(int, int, int)');
  const setsockopt = libc.func('int setsockopt(int, int, int, void *, uint32_t)');
  const [bind, connect] = ['bind', 'connect'].map((name) => libc.func(`int ${name}(int, void *, uint32_t)`));
  const send = libc.func('long send(int, void *, size_t, int)');
  const close = libc.func('int close(int)');
  const address = (host: number[], at: number) => Buffer.from([2, 0, at >> 8, at & 255, ...host, ...Array(8).fill(0)]);
  const [AF_INET, STREAM_NONBLOCK, SOL_SOCKET, SO_LINGER, MSG_NOSIGNAL] = [2, 1 | 0o4000, 1, 13, 0x4000];
  const resets = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  const target = address([127, 0, 0, 1], port);
  const held = Array<number>(most).fill(-1);
  const some = () => {
    for (let count = 0; count < 1000; count++, opened++) {
      const index = opened % most;
      if (held[index]! >= 0) close(held[index]);
      const descriptor = socket(AF_INET, STREAM_NONBLOCK, 0);
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, resets, resets.length);
      bind!(descriptor, address([127, 0, 1, 1 + (opened % 200)], 0), 16);
      connect!(descriptor, target, 16);
      if (bytes.length > 0) send(descriptor, bytes, bytes.length, MSG_NOSIGNAL);
      held[index] = descriptor;
    }
    if (opened === 2 * most) console.log('flooding');
    setImmediate(some);
  };
  process.setgid!(NOBODY); // after koffi was loaded, because the user nobody cannot read the repository
  process.setuid!(NOBODY);
  some();
}

let opened = 0;
const [, , kind, port] = process.argv as unknown as [string, string, FloodKind, number];
const hello = kind === 'hello' ? await clientHello() : Buffer.alloc(0);
process.on('SIGTERM', () => {
  console.log(opened);
  process.exit();
});
process.stdin.resume().once('close', () => process.exit()); // exits whenever the server exits
floodWith(hello, { port, held: HELD[kind] });
