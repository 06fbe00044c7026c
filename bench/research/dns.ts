/**
 * Measures the DNS server's answers per second, their latency and the CPU time they cost, with 1,000 services and 2,000 endpoints: `node
 * bench/research/dns.ts [QUERIES_A_SECOND] [SECONDS]`. The server runs in a separate process, on the loopback interface.
 */
import { fork } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { silentLogger } from '@podwright/base';
import { startDns } from '@podwright/dns';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { SERVICES } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';

const SERVICE_COUNT = 1000;
const ENDPOINTS_EACH = 2;
const SOCKETS = 16;
/** A query not answered within this time counts as lost. */
const LOST_MS = 1000;

const core = (plural: string, kind: string): Resource => ({ group: '', version: 'v1', plural, kind, namespaced: true });
const NAMESPACES = { ...core('namespaces', 'Namespace'), namespaced: false };
const SLICES = { ...core('endpointslices', 'EndpointSlice'), group: 'discovery.k8s.io' };

type Usage = { cpuMs: number; rssMb: number };

/** In the server process: sends the port to the parent, and the CPU time and memory used so far in response to each message. */
async function serve(): Promise<void> {
  const client = new FakeKubeClient();
  client.put(NAMESPACES, { metadata: { name: 'default' } });
  for (let index = 0; index < SERVICE_COUNT; index++) {
    const [high, low] = [index >> 8, index & 0xff];
    const spec = index % 2 === 0 ? { clusterIP: `10.96.${high}.${low}` } : { clusterIP: 'None' };
    const metadata = { namespace: 'default', name: `web-${index}` };
    client.put(SERVICES, { metadata, spec } as KubeObject);
    const endpoints = Array.from({ length: ENDPOINTS_EACH }, (_, one) => ({
      addresses: [`10.${88 + one}.${high}.${low}`],
    }));
    const labels = { 'kubernetes.io/service-name': metadata.name };
    client.put(SLICES, { metadata: { ...metadata, labels }, ports: [], endpoints } as KubeObject);
  }
  const shared = { client, address: '127.0.0.1', port: 0, domain: 'cluster.local', upstream: '/dev/null', clients: [] };
  const server = await startDns({ ...shared, logger: silentLogger, signal: new AbortController().signal });
  await server.synced;
  process.send!(server.port);
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send!({ cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 2 ** 20 } satisfies Usage);
  });
  process.on('disconnect', () => process.exit());
}

function queryFor(index: number): Buffer {
  const labels = [`web-${index % SERVICE_COUNT}`, 'default', 'svc', 'cluster', 'local'];
  const name = labels.flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 0, 1, 0, 1]);
}

/** Sends queries at a steady rate and records how long each answer took. */
class Load {
  readonly latenciesMs: number[] = [];
  sent = 0;
  readonly #queries = Array.from({ length: SERVICE_COUNT }, (_, index) => queryFor(index));
  readonly #sentAtMs: Float64Array[] = [];
  readonly #sockets: Socket[] = [];

  async open(port: number): Promise<void> {
    for (let index = 0; index < SOCKETS; index++) {
      const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
      const times = new Float64Array(1 << 16);
      socket.connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('message', (reply) => this.latenciesMs.push(performance.now() - times[reply.readUInt16BE(0)]!));
      this.#sockets.push(socket);
      this.#sentAtMs.push(times);
    }
  }

  async run(rate: number, seconds: number): Promise<void> {
    const startedMs = performance.now();
    for (;;) {
      const elapsedMs = performance.now() - startedMs;
      if (elapsedMs >= seconds * 1000) break;
      while (this.sent < (elapsedMs / 1000) * rate) this.#send();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setTimeout(resolve, LOST_MS));
    for (const socket of this.#sockets) socket.close();
  }

  #send(): void {
    const number = this.sent++;
    const [at, id] = [number % SOCKETS, Math.floor(number / SOCKETS) & 0xffff];
    const query = Buffer.from(this.#queries[number % SERVICE_COUNT]!);
    query.writeUInt16BE(id, 0);
    this.#sentAtMs[at]![id] = performance.now();
    this.#sockets[at]!.send(query);
  }
}

async function measure(rate: number, seconds: number): Promise<void> {
  const child = fork(import.meta.filename, ['serve']);
  const [port] = (await once(child, 'message')) as [number];
  const usage = async () => {
    child.send('usage');
    const [answer] = (await once(child, 'message')) as [Usage];
    return answer;
  };
  const load = new Load();
  await load.open(port);
  const before = await usage();
  await load.run(rate, seconds);
  const after = await usage();
  child.disconnect();
  const times = load.latenciesMs.sort((one, other) => one - other);
  const at = (share: number) => `${times[Math.floor((times.length - 1) * share)]!.toFixed(2)} ms`;
  const cpuMs = after.cpuMs - before.cpuMs;
  console.log('| queries/s | answers/s | lost | p50 | p99 | most | cores | µs of processor each | RSS |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  const rates = `${Math.round(load.sent / seconds)} | ${Math.round(times.length / seconds)} | ${load.sent - times.length}`;
  const costs = `${(cpuMs / (seconds * 1000)).toFixed(2)} | ${((cpuMs * 1000) / times.length).toFixed(1)}`;
  console.log(
    `| ${rates} | ${at(0.5)} | ${at(0.99)} | ${at(1)} | ${costs} | ${before.rssMb.toFixed(0)} → ${after.rssMb.toFixed(0)} MiB |`,
  );
}

const [first, second] = process.argv.slice(2);
if (first === 'serve') await serve();
else await measure(Number(first ?? 20_000), Number(second ?? 10));
