import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Counter, errorCode, metricsText, Registry, silentLogger } from '@podwright/base';
import { MetricsServer, openMetrics } from './metrics.ts';

async function serve(t: TestContext, registry = new Registry()) {
  const server = new MetricsServer(registry, silentLogger);
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  return { server, port, url: `http://127.0.0.1:${port}` };
}

async function dial(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('a registry is served in Prometheus format, only on its path', async (t) => {
  const registry = new Registry();
  new Counter({ name: 'calls_total', help: 'Calls', registers: [registry] }).inc(3);
  const { url } = await serve(t, registry);
  const answer = await fetch(`${url}/metrics?x=1`);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=/);
  assert.match(await answer.text(), /^calls_total 3$/m);
  assert.equal((await fetch(`${url}/`)).status, 404);
  assert.equal((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status, 405);
});

test('every daemon’s registry has the metrics of its process', async () => {
  await using metrics = await openMetrics({ metrics_address: undefined, log_level: 'error' });
  assert.match(await metricsText(metrics.registry, () => true), /^process_cpu_seconds_total \d/m);
});

test('the health endpoint reports the daemon’s health', async (t) => {
  let problem: string | undefined;
  const server = new MetricsServer(new Registry(), silentLogger, () => problem);
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
    return [answer.status, await answer.text()];
  };
  assert.deepEqual(await ask(), [200, 'ok']);
  problem = 'the rules are not in force';
  assert.deepEqual(await ask(), [500, 'the rules are not in force']);
});

test('probe metrics, which contain pod names, are not served', async (t) => {
  const registry = new Registry();
  const probes = { name: 'prober_probe_total', help: 'Probes', labelNames: ['pod'] as const, registers: [registry] };
  new Counter(probes).inc({ pod: 'secret' });
  const { url } = await serve(t, registry);
  assert.equal(await (await fetch(`${url}/metrics`)).text(), '');
});

test('many concurrent scrapes share one answer', async (t) => {
  const registry = new Registry();
  let made = 0;
  new Counter({ name: 'made_total', help: 'Answers', registers: [registry], collect: () => void made++ });
  const { url } = await serve(t, registry);
  const answers = await Promise.all(Array.from({ length: 20 }, async () => (await fetch(`${url}/metrics`)).text()));
  assert.ok(made < 20, `${made} answers were made`);
  assert.ok(answers.every((text) => text.includes('made_total')));
});

test('more than 64 connections and long headers are refused', async (t) => {
  const { port } = await serve(t);
  const sockets: Socket[] = [];
  for (let count = 0; count < 64; count++) sockets.push(await dial(t, port));
  await once(await dial(t, port), 'close');
  const first = sockets[0]!;
  first.write(`GET /metrics HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(9000)}\r\n\r\n`);
  const [answer] = (await once(first, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 431 /);
});

test('an address in use is an error that names it', async (t) => {
  const { port } = await serve(t);
  const second = new MetricsServer(new Registry(), silentLogger);
  await assert.rejects(second.listen({ host: '127.0.0.1', port }), (error: Error) => {
    assert.match(error.message, new RegExp(`^serve metrics on 127\\.0\\.0\\.1 port ${port}: .*address already in use`));
    return errorCode(error) === 'unknown';
  });
});
