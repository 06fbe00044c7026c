/**
 * `flooded-port.child.ts DIRECTORY KIND`, run in a separate network namespace: serves a kubelet API, floods it from another process while
 * making requests with a client certificate, and prints a `FloodResult`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { runChecked } from '@podwright/host';
import { deferAccept, filterConnections, SocketOwners } from '@podwright/system';
import { serveApi } from '../../packages/kubelet-server/src/served-api.fixture.ts';
import type { FloodKind } from './flood.child.ts';

export type FloodResult = { opened: number; statuses: number[]; slowestMs: number; grownMb: number };

const REQUESTS = 20;

async function floodedServer(directory: string, kind: FloodKind): Promise<FloodResult> {
  await runChecked('ip', ['link', 'set', 'lo', 'up']);
  const context = { after: () => undefined } as unknown as TestContext;
  const authentication = { anonymous: false, clientCaFile: `${directory}/ca.crt` };
  const owners = new SocketOwners();
  const { port, ask } = await serveApi(context, {
    authentication,
    onListening: (server, allows) => {
      deferAccept(server, 10);
      filterConnections(server, allows!);
    },
    peerUser: (ends) => owners.userOf(ends),
  });
  const [cert, key] = ['crt', 'key'].map((extension) => readFileSync(`${directory}/client.${extension}`));
  const request = async () => (await ask('/healthz', { cert: cert!, key: key! })).status;
  await request(); // warms up: the first request loads code
  const before = rssMb();
  const flood = new URL('flood.child.ts', import.meta.url).pathname;
  const flooding = spawn(process.execPath, [flood, kind, String(port)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: flooding.stdout })[Symbol.asyncIterator]();
  await lines.next();
  const result: FloodResult = { opened: 0, statuses: [], slowestMs: 0, grownMb: 0 };
  for (let count = 0; count < REQUESTS; count++) {
    const startedAt = performance.now();
    result.statuses.push(await request().catch(() => 0));
    result.slowestMs = Math.max(result.slowestMs, performance.now() - startedAt);
    result.grownMb = Math.max(result.grownMb, rssMb() - before);
  }
  const ended = once(flooding, 'exit');
  flooding.kill();
  const { value } = await lines.next();
  await ended;
  return { ...result, opened: Number(value) };
}

const rssMb = () => process.memoryUsage.rss() / (1 << 20);

const [, , directory, kind] = process.argv;
console.log(JSON.stringify(await floodedServer(directory!, kind as FloodKind)));
process.exit();
