/**
 * `flooded-port.child.ts DIRECTORY serve`, in a network namespace of its own: serves a kubelet's API, has itself flooded, makes
 * requests with a client certificate meanwhile, and prints a `FloodResult`. `flood PORT` is the flood: connections without a
 * byte, as fast as one process can, from 200 addresses, at most 3,000 at once, each ended by a reset.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { runChecked } from '@podwright/base';
import { deferAccept } from '@podwright/system';
import { serveApi } from '../../packages/kubelet/src/server/kubelet-api/served-api.fixture.ts';

export type FloodResult = { opened: number; statuses: number[]; slowestMs: number; grownMb: number };

const REQUESTS = 20;
const HELD = 3000;

/** The kernel's numbers (socket(2), ip(7)); loopback addresses in network order. */
function flood(port: number): void {
  const koffi = createRequire(new URL('../../packages/runtime/package.json', import.meta.url))('koffi');
  const libc = koffi.load(null);
  const socket = libc.func('int socket(int, int, int)');
  const setsockopt = libc.func('int setsockopt(int, int, int, void *, uint32_t)');
  const [bind, connect] = ['bind', 'connect'].map((name) => libc.func(`int ${name}(int, void *, uint32_t)`));
  const close = libc.func('int close(int)');
  const address = (host: number[], at: number) => Buffer.from([2, 0, at >> 8, at & 255, ...host, ...Array(8).fill(0)]);
  const [AF_INET, STREAM_NONBLOCK, SOL_SOCKET, SO_LINGER] = [2, 1 | 0o4000, 1, 13];
  const resets = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  const target = address([127, 0, 0, 1], port);
  const held = Array<number>(HELD).fill(-1);
  let opened = 0;
  let isOver = false;
  process.on('SIGTERM', () => {
    isOver = true;
  });
  process.stdin.resume().once('close', () => process.exit()); // whatever ended the server
  const some = () => {
    for (let count = 0; count < 1000; count++, opened++) {
      const index = opened % HELD;
      if (held[index]! >= 0) close(held[index]);
      const descriptor = socket(AF_INET, STREAM_NONBLOCK, 0);
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, resets, resets.length);
      bind!(descriptor, address([127, 0, 1, 1 + (opened % 200)], 0), 16);
      connect!(descriptor, target, 16);
      held[index] = descriptor;
    }
    if (opened === 2 * HELD) console.log('flooding');
    if (!isOver) return void setImmediate(some);
    console.log(opened);
    process.exit();
  };
  some();
}

async function serve(directory: string): Promise<FloodResult> {
  await runChecked('ip', ['link', 'set', 'lo', 'up']);
  const context = { after: () => undefined } as unknown as TestContext;
  const authentication = { anonymous: false, clientCaFile: `${directory}/ca.crt` };
  const { port, ask } = await serveApi(context, { authentication, onListening: (server) => deferAccept(server, 10) });
  const [cert, key] = ['crt', 'key'].map((kind) => readFileSync(`${directory}/client.${kind}`));
  const request = async () => (await ask('/healthz', { cert: cert!, key: key! })).status;
  await request(); // the first loads what every one needs
  const before = rssMb();
  const flooding = spawn(process.execPath, [import.meta.filename, directory, 'flood', String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: flooding.stdout })[Symbol.asyncIterator]();
  await lines.next();
  const result: FloodResult = { opened: 0, statuses: [], slowestMs: 0, grownMb: 0 };
  for (let count = 0; count < REQUESTS; count++) {
    const startedAt = performance.now();
    result.statuses.push(await request().catch(() => 0));
    result.slowestMs = Math.max(result.slowestMs, performance.now() - startedAt);
    result.grownMb = Math.max(result.grownMb, rssMb() - before);
  }
  flooding.kill();
  return { ...result, opened: Number((await lines.next()).value) };
}

const rssMb = () => process.memoryUsage.rss() / (1 << 20);

const [, , directory, what, port] = process.argv;
if (what === 'flood') flood(Number(port));
else {
  console.log(JSON.stringify(await serve(directory!)));
  process.exit();
}
