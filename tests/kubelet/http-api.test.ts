/** The kubelet's HTTP API on Debian's containerd 1.6, whose streaming server supports neither the v5 protocol nor tunneling. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { Registry, silentLogger, waitFor } from '@podwright/base';
import { runProgram } from '@podwright/host';
import { kubeletServerOptions } from '@podwright/kubelet-configuration';
import { type ServedKubeletApi, serveKubeletApi } from '@podwright/kubelet-server';
import { runRemoteCommand } from '@podwright/streaming';
import { connectTunnel, WebSocketVisitor } from '../../packages/streaming/src/websocket-client.fixture.ts';
import { busyboxImage } from './containerd.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { docker, onDocker, type RestartableRuntime, startOtherRuntime } from './suite-runtime.fixture.ts';

const POD = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: server
    image: ${busyboxImage}
    command: [sh, -c, "mkdir /www; echo page > /www/index.html; echo started; echo warned >&2; exec httpd -f -p 8080 -h /www"]
`;
const TOKEN = 'a-token';
const HEADERS = ['-H', `Authorization: Bearer ${TOKEN}`];

let runtime: RestartableRuntime;
let kubelet: RealKubelet;
let served: ServedKubeletApi;
let origin: string;

before(async () => {
  runtime = await startOtherRuntime('api');
  const registry = new Registry();
  const tokenFile = join(runtime.scratch, 'tokens');
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  const [port, readOnlyPort] = [await freePort(), await freePort()];
  const given = { address: '127.0.0.1', port, readOnlyPort, healthzPort: 0 };
  const authentication = { anonymous: false, tokenFile };
  const server = kubeletServerOptions({ ...given, authentication });
  kubelet = await startRealKubelet(runtime, { metrics: registry, server });
  served = await serveKubeletApi({ kubelet: kubelet.handle, registry, logger: silentLogger });
  origin = `https://127.0.0.1:${port}`;
  await kubelet.apply('web.yaml', POD);
  await kubelet.pod('web', ({ status }) => status?.phase === 'Running');
});
after(async () => {
  await served.close();
  await kubelet.close();
  await runtime.stop();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Requests a path using curl, which trusts the kubelet's self-signed certificate. */
async function curl(path: string, ...more: string[]): Promise<string> {
  const authority = join(kubelet.options.rootDir, 'pki/kubelet.crt');
  const { stdout } = await runProgram('curl', ['-sS', '--cacert', authority, ...HEADERS, ...more, `${origin}${path}`]);
  return stdout;
}

test('curl reads pods, logs and health with a token and the kubelet’s own certificate', async () => {
  assert.match(await curl('/pods'), /^\{"kind":"PodList","apiVersion":"v1".*"phase":"Running"/);
  assert.match(await curl('/runningpods/'), /"name":"server","image":"[^"]+"/);
  const log = (query: string) => curl(`/containerLogs/default/web/server?${query}`);
  // the two lines may be in either order, because containerd reads from two pipes
  await waitFor(async () => ['started\nwarned\n', 'warned\nstarted\n'].includes(await log('')) || undefined, {
    intervalMs: 50,
    signal: AbortSignal.timeout(5000),
  });
  assert.equal(await log('stream=Stderr'), 'warned\n');
  assert.equal(await curl('/healthz'), 'ok');
  assert.equal(await curl('/run/default/web/server?cmd=cat%20/www/index.html', '-X', 'POST'), 'page\n');
  const failed = await curl('/run/default/web/server?cmd=ls%20/none', '-X', 'POST', '-w', '%{http_code}');
  assert.match(failed, /^command 'ls \/none' exited with 1: .*No such file or directory\n500$/);
});

test('statistics have the containers and the node', async () => {
  const summary = JSON.parse(await curl('/stats/summary')) as {
    node: Record<string, unknown>;
    pods: { podRef: object; containers: Record<string, { workingSetBytes: number; usedBytes: number }>[] }[];
  };
  for (const part of ['cpu', 'memory', 'fs', 'network', 'runtime', 'rlimit', 'swap'])
    assert.ok(summary.node[part], part);
  const [server] = summary.pods[0]!.containers;
  assert.ok(server!.memory!.workingSetBytes > 0);
  const { usedBytes } = server!.logs!;
  assert.ok(onDocker ? usedBytes <= docker.mostLogBytes : usedBytes > 0, String(usedBytes));
  const series = /^container_memory_working_set_bytes\{container="server",namespace="default",pod="web"\} \d+ \d+$/m;
  assert.match(await curl('/metrics/resource'), series);
  const own = await curl('/metrics');
  assert.match(own, /^kubelet_container_log_filesystem_used_bytes\{container="server",.*\} \d+$/m);
  assert.match(own, /^kubelet_started_containers_total\{container_type="container"\} 1$/m);
  assert.match(await curl('/metrics/cadvisor'), /^container_memory_working_set_bytes\{container="server",/m);
});

test('samples in a scrape have the timestamps of their values, so that two scrapes yield rates', async () => {
  const startedAtMs = Date.now();
  const text = await curl('/metrics/resource');
  const read = (series: string) => {
    const [, value, atMs] = text.match(new RegExp(`^${series} (\\S+)(?: (\\d+))?$`, 'm')) ?? [];
    return { value: Number(value), atMs: Number(atMs) };
  };
  const { atMs } = read('node_cpu_usage_seconds_total');
  assert.ok(atMs >= startedAtMs && atMs <= Date.now(), `the node is measured at the request, not at ${atMs}`);
  const labels = '\\{container="server",namespace="default",pod="web"\\}';
  const started = read(`container_start_time_seconds${labels}`).value * 1000;
  for (const name of ['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes']) {
    const { value, atMs: measuredAtMs } = read(`${name}${labels}`);
    assert.ok(value > 0 && measuredAtMs > started, `${name} of ${value} at ${measuredAtMs}`);
  }
});

/** Runs a server without TLS in front of the same handlers, because the WebSocket fixture does not support certificates. */
async function plainly<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { createServer: createHttpServer } = await import('node:http');
  const server = createHttpServer({ shouldUpgradeCallback: (request) => served.listener.upgrades(request) });
  server.on('upgrade', (request, socket, head) => served.listener.upgrade(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const EXEC =
  '/exec/default/web/server?command=sh&command=-c&command=cat;echo%20err%20>%262;exit%207&input=1&output=1&error=1';

test('a command runs over SPDY and over v5, with its input, both outputs and its exit code', async () => {
  const input = Buffer.alloc(1 << 20, 'abc');
  await plainly(async (url) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const outputs = Promise.all([buffer(stdout), text(stderr)]);
    const io = { stdin: Readable.from([input]), stdout, stderr, tty: false };
    assert.equal(await runRemoteCommand({ url: url + EXEC }, io), 7);
    stdout.end();
    stderr.end();
    const [out, err] = await outputs;
    assert.deepEqual([out.equals(input), err], [true, 'err\n']);
    const visitor = new WebSocketVisitor(url + EXEC, 'v5.channel.k8s.io');
    await visitor.write(input, { end: true });
    assert.equal(await visitor.exitCode(), 7);
    assert.deepEqual(
      [visitor.received('stdout').equals(input), visitor.received('stderr').toString()],
      [true, 'err\n'],
    );
  });
});

test('an attached client exchanges data with the container, which keeps running after the client detaches', async () => {
  const talk = 'while read line; do echo "heard $line"; done';
  const container = `{name: talk, image: ${busyboxImage}, stdin: true, command: [sh, -c, ${JSON.stringify(talk)}]}`;
  const spec = `{terminationGracePeriodSeconds: 1, containers: [${container}]}`;
  await kubelet.apply('talks.yaml', `{apiVersion: v1, kind: Pod, metadata: {name: talks}, spec: ${spec}}`);
  const { status } = await kubelet.pod('talks', (pod) => pod.status?.phase === 'Running');
  await plainly(async (url) => {
    for (const line of ['one', 'two']) {
      const visitor = new WebSocketVisitor(`${url}/attach/default/talks/talk?input=1&output=1`, 'v5.channel.k8s.io');
      await visitor.write(Buffer.from(`${line}\n`));
      await kubelet.until('the container answers', () => visitor.received('stdout').toString() === `heard ${line}\n`);
      visitor.leave();
    }
  });
  const after = await kubelet.pod('talks', () => true);
  assert.deepEqual(after.status!.containerStatuses![0]!.state, status!.containerStatuses![0]!.state);
});

test('ports are forwarded through a tunnel, which containerd does not support', async () => {
  await plainly(async (url) => {
    const connection = await connectTunnel(`${url}/portForward/default/web`);
    const names = { port: '8080', requestid: '0' };
    (await connection.open({ streamtype: 'error', ...names })).end();
    const data = await connection.open({ streamtype: 'data', ...names });
    data.write('GET / HTTP/1.0\r\n\r\n');
    assert.match(await text(data), /200 OK[\s\S]*page/);
    connection.destroy();
  });
});

test('ports are forwarded over WebSocket channels, even if the client offers subprotocols for commands', async () => {
  await plainly(async (url) => {
    const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
    const visitor = new WebSocketVisitor(`${url}/portForward/default/web?port=8080`, ...protocols);
    await visitor.write(Buffer.from('GET / HTTP/1.0\r\n\r\n')); // the first channel carries a port's data in both directions
    await kubelet.until('the page is received', () => /200 OK[\s\S]*page/.test(visitor.received('stdin').toString()));
    visitor.leave();
  });
});
