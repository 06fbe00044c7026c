import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PodwrightError, Registry } from '@podwright/base';
import type { Container, LifecycleHandler, Pod } from '@podwright/kube-api';
import { PodEvents } from '@podwright/kube-api';
import { Certificates } from '../../../../tests/fixtures/certificates.ts';
import { LifecycleHooks } from './lifecycle-hooks.ts';

type Received = { url: string; headers: IncomingHttpHeaders; servername?: string | false | null };
const received: Received[] = [];
const answer: RequestListener = ({ url, headers, socket }, response) => {
  received.push({ url: url!, headers, servername: (socket as { servername?: string }).servername });
  if (url === '/loop') return response.writeHead(302, { location: '/loop' }).end();
  if (url === '/away') return response.writeHead(302, { location: 'http://other.invalid/' }).end();
  if (url === '/cut') {
    response.writeHead(200, { 'content-length': 100 });
    return void response.write('a part', () => response.destroy());
  }
  response.writeHead(url === '/500' ? 500 : 200).end('body');
};
const scratch = mkdtempSync(join(tmpdir(), 'podwright-hooks-'));
const certificates = new Certificates(scratch);
await certificates.makeAuthority('untrusted');
const { certificate: cert, key } = await certificates.make('server', 'untrusted');
const servers = { http: createServer(answer), https: createTlsServer({ cert, key }, answer) };
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
const ports = { http: await listen(servers.http), https: await listen(servers.https) };
after(() => {
  for (const server of Object.values(servers)) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(scratch, { recursive: true });
});

const namedPorts = Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort }));
const container = { name: 'app', image: 'x', ports: namedPorts } as Container;
const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } };

/** Runs a lifecycle hook. Returns its error, the events, and a function that reads metrics. */
async function run(handler: LifecycleHandler, given: { podIps?: string[]; signal?: AbortSignal } = {}) {
  const events = new PodEvents('node');
  const metrics = new Registry();
  const commands = {
    runInContainer: async (id: string, [command, code]: string[]) => {
      if (command === 'broken') throw new PodwrightError('internal', `no ${id}`);
      return { exitCode: Number(code), output: 'a "secret"', stderr: 'no' };
    },
  };
  const request = { pod, container, containerId: 'c1', podIps: given.podIps ?? ['127.0.0.1'], handler };
  const hooks = new LifecycleHooks({ commands, events, metrics });
  const error = await hooks.run(request, given.signal ?? AbortSignal.timeout(5000)).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  );
  const counted = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)![1]);
  const text = await metrics.metrics();
  return { error, events: events.list(), counted };
}

async function check(handler: LifecycleHandler, error: string | undefined) {
  assert.equal((await run(handler)).error, error);
}

const failed = (what: string) => `${what} for Container "app" in Pod "web_default(u1)" failed - error: `;

test('a command succeeds with exit code 0', () => check({ exec: { command: ['exit', '0'] } }, undefined));
test('a nonzero exit code is a failure that includes the exit code and output', () =>
  check(
    { exec: { command: ['exit', '3'] } },
    `${failed('Exec lifecycle hook ([exit 3])')}command 'exit 3' exited with 3: no, message: "a \\"secret\\""`,
  ));
test('a command that cannot be executed is a failure', () =>
  check(
    { exec: { command: ['broken'] } },
    `${failed('Exec lifecycle hook ([broken])')}rpc error: code = Internal desc = no c1, message: ""`,
  ));

for (const path of ['/', '/500', '/away', '/cut'])
  test(`the response of ${path} is a success`, () => check({ httpGet: { path, port: 'http' } }, undefined));
test('endless redirects are a failure', () =>
  check(
    { httpGet: { path: '/loop', port: 'http' } },
    `${failed('HTTP lifecycle hook (/loop)')}Get "/loop": stopped after 10 redirects`,
  ));
test('a port without a listener is a failure', () =>
  check(
    { httpGet: { port: 1 } },
    `${failed('HTTP lifecycle hook (/)')}Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`,
  ));
test('an HTTP hook fails if the pod has no address', async () => {
  const { error } = await run({ httpGet: { port: 'http' } }, { podIps: [] });
  assert.equal(error, `${failed('HTTP lifecycle hook (/)')}the pod has no address yet`);
});
test('a hook may name any host', async () => {
  const { error } = await run({ httpGet: { host: '127.0.0.1', port: 'http' } }, { podIps: [] });
  assert.equal(error, undefined);
});
test('a request has the same User-Agent as upstream, and the hook’s Host header', async () => {
  received.length = 0;
  const httpHeaders = [{ name: 'HOST', value: 'shop.example' }];
  await check({ httpGet: { path: '/bye?now', port: 'http', httpHeaders } }, undefined);
  const { url, headers } = received[0]!;
  assert.deepEqual([url, headers.host, headers['user-agent']], ['/bye?now', 'shop.example', 'kube-lifecycle/1.36']);
});

test('a request accepts gzip and has no Connection header, unless the hook sets them', async () => {
  received.length = 0;
  const fieldsOf = async (httpHeaders: { name: string; value: string }[]) => {
    await check({ httpGet: { port: 'http', httpHeaders } }, undefined);
    const { headers } = received.at(-1)!;
    return [headers['accept-encoding'], headers.connection];
  };
  assert.deepEqual(await fieldsOf([]), ['gzip', undefined]);
  assert.deepEqual(await fieldsOf([{ name: 'range', value: 'bytes=0-1' }]), [undefined, undefined]);
  assert.deepEqual(await fieldsOf([{ name: 'accept-encoding', value: 'br' }]), ['br', undefined]);
  assert.deepEqual(await fieldsOf([{ name: 'connection', value: 'close' }]), ['gzip', 'close']);
});

test('certificates are not verified, and SNI is the name in the Host header', async () => {
  received.length = 0;
  const httpHeaders = [{ name: 'Host', value: 'shop.example:443' }];
  await check({ httpGet: { scheme: 'HTTPS', port: 'https', httpHeaders } }, undefined);
  assert.equal(received[0]!.servername, 'shop.example');
});
test('a server that only speaks HTTP/2 is called with HTTP/2', async () => {
  const requests: IncomingHttpHeaders[] = [];
  const server = createSecureServer({ cert, key }, ({ headers }, response) => {
    requests.push(headers);
    response.end('body');
  });
  const port = await listen(server);
  const httpHeaders = ['Host', 'Connection', 'X-Key'].map((name) => ({ name, value: 'shop.example' }));
  const { error } = await run({ httpGet: { scheme: 'HTTPS', port, path: '/bye?now', httpHeaders } });
  server.close();
  assert.equal(error, undefined);
  const { ':authority': host, ':path': path, 'x-key': field, 'user-agent': agent, connection } = requests[0]!;
  assert.deepEqual(
    [host, path, field, agent, connection],
    ['shop.example', '/bye?now', 'shop.example', 'kube-lifecycle/1.36', undefined],
  );
});
test('a header with a line break is not sent', async () => {
  const httpHeaders = [{ name: 'X-Key', value: 'a\r\nX-Other: b' }];
  const { error } = await run({ httpGet: { port: 'http', httpHeaders } });
  assert.match(error!, /: net\/http: invalid header field value for "X-Key"$/);
});
test('a server without TLS is called over plain HTTP, without the Authorization header', async () => {
  received.length = 0;
  const httpHeaders = ['Authorization', 'X-Key'].map((name) => ({ name, value: 'yes' }));
  const { error, events, counted } = await run({ httpGet: { scheme: 'HTTPS', port: 'http', httpHeaders } });
  assert.equal(error, undefined);
  const { headers } = received.at(-1)!;
  assert.deepEqual([headers.authorization, headers['x-key']], [undefined, 'yes']);
  assert.deepEqual(
    events.map(({ type, reason, message, involvedObject }) => [type, reason, message, involvedObject.fieldPath]),
    [
      [
        'Warning',
        'LifecycleHTTPFallback',
        `request to HTTPS lifecycle hook 127.0.0.1:${ports.http} got HTTP response, retry with HTTP succeeded`,
        undefined,
      ],
    ],
  );
  assert.equal(counted('kubelet_lifecycle_handler_http_fallbacks_total'), 1);
});

test('a sleep hook waits', async () => {
  const startedMs = performance.now();
  await check({ sleep: { seconds: 0.05 } }, undefined);
  assert.ok(performance.now() - startedMs >= 49);
});
test('an interrupted sleep is counted', async () => {
  const { counted } = await run({ sleep: { seconds: 3 } }, { signal: AbortSignal.timeout(10) });
  assert.equal(counted('kubelet_sleep_action_terminated_early_total'), 1);
});
test('a tcpSocket hook fails, as documented in the API', () =>
  check({ tcpSocket: { port: 1 } }, 'Cannot run handler: a lifecycle hook is exec, httpGet or sleep'));
