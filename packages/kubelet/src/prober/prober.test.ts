import assert from 'node:assert/strict';
import dns from 'node:dns';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { PodwrightError, sleep } from '@podwright/base';
import type { Container, HttpGetAction, Probe } from '@podwright/kube-api';
import { Prober } from './prober.ts';
import { ThresholdCounter } from './worker.ts';

const redirects: Record<string, string> = {
  '/redirect': '/ok',
  '/away': 'http://other.invalid/',
  '/loop': 'loop',
  '/dotted/a': '../%2e%2e/b/./c',
  '/file': 'file://127.0.0.1/etc/passwd',
};
const endless = new Readable({ read: () => void endless.push(Buffer.alloc(1 << 16)) });
const requests: { url: string; headers: string[] }[] = [];
const server = createServer((request, response) => {
  const url = request.url!;
  requests.push({ url, headers: request.rawHeaders });
  const step = /^\/steps\/(\d+)$/.exec(url)?.[1];
  const location = redirects[url] ?? (Number(step) > 0 ? `/steps/${Number(step) - 1}` : undefined);
  if (location !== undefined) return response.writeHead(302, { location }).end('elsewhere');
  if (url === '/choices') return response.writeHead(300, { location: '/ok' }).end();
  if (url === '/slow') return;
  if (url === '/slow-body') return void response.writeHead(200).write('a part');
  if (url === '/endless') return void endless.pipe(response.writeHead(200));
  if (url === '/cut') {
    response.writeHead(200, { 'content-length': 100 });
    return void response.write('a part', () => response.destroy());
  }
  response.writeHead(url === '/503' ? 503 : 200).end('body');
});
const services: string[] = [];
const grpc = createHttp2Server();
grpc.on('stream', (stream) => {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => {
    const message = Buffer.concat(chunks).subarray(5);
    const service = nameIn(message);
    services.push(service);
    const status = { unknown: '5', old: '12' }[service] ?? '0';
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': 'no%20such' }));
    stream.end(status === '0' ? Buffer.from([0, 0, 0, 0, 2, 8, service === 'ill' ? 2 : 1]) : undefined);
  });
});
const listen = async (one: Server) => {
  one.listen(0, '127.0.0.1');
  await new Promise((resolve) => one.once('listening', resolve));
  return (one.address() as AddressInfo).port;
};
const [port, grpcPort] = await Promise.all([server, grpc].map(listen));
after(() => {
  server.closeAllConnections();
  server.close();
  grpc.close();
});

/** Decodes the string in field 1 of a protobuf message. */
function nameIn(message: Buffer): string {
  if (message.length === 0) return '';
  assert.equal(message[0], 0x0a);
  let at = 1;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = message[at++]!;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  assert.equal(message.length, at + length);
  return message.toString('utf8', at);
}

const commands: string[][] = [];
const runner = {
  runInContainer: async (_id: string, command: string[], { signal }: { signal: AbortSignal }) => {
    commands.push(command);
    if (command[0] === 'late') await sleep(1200, signal);
    if (command[0] === 'hang') throw new PodwrightError('deadline_exceeded', 'not done');
    if (command[0] === 'broken') throw new PodwrightError('internal', 'no runtime');
    return { exitCode: Number(command[1]), output: 'said', stderr: '' };
  },
};
const container = {
  name: 'c',
  image: 'x',
  ports: [{ name: 'web', containerPort: port }],
  env: [
    { name: 'CODE', value: '3' },
    { name: 'FROM', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ],
} as unknown as Container;

function probe(probe: Probe, given: { container?: Container; podIps?: string[] } = {}) {
  const target = { probe: { timeoutSeconds: 1, ...probe }, container, containerId: 'id', podIps: ['127.0.0.1'] };
  return new Prober(runner).probe({ ...target, ...given }, new AbortController().signal);
}

async function check(given: Probe, verdict: string, output?: string | RegExp) {
  const answer = await probe(given);
  assert.equal(answer.verdict, verdict, answer.output);
  if (typeof output === 'string') assert.equal(answer.output, output);
  else if (output !== undefined) assert.match(answer.output, output);
}

const url = (path: string) => `Get "http://127.0.0.1:${port}${path}"`;
const http = (path: string, rest: Partial<HttpGetAction> = {}) => ({ httpGet: { path, port: port!, ...rest } });

test('a 200 response is a success', () => check(http('/ok'), 'success', 'body'));
test('a port may be named', () => check({ httpGet: { path: '/ok', port: 'web' } }, 'success'));
test('a path need not begin with a slash', () => check(http('ok?a=b'), 'success'));
test('a 503 response is a failure, and its body is not shown', () =>
  check(http('/503'), 'failure', 'HTTP probe failed with statuscode: 503'));
test('a redirect on the same host is followed', () => check(http('/redirect'), 'success', 'body'));
test('a redirect to a different host is a warning', () =>
  check(http('/away'), 'warning', 'Probe terminated redirects, Response body: elsewhere'));
test('a 300 response is a warning', () => check(http('/choices'), 'warning'));
test('nine redirects are followed', () => check(http('/steps/9'), 'success'));
test('a tenth redirect is not followed', () =>
  check(http('/steps/10'), 'failure', 'Get "/steps/0": stopped after 10 redirects'));
test('an endless redirect is a failure, and the message quotes the last Location unchanged', () =>
  check(http('/loop'), 'failure', 'Get "loop": stopped after 10 redirects'));
test('a redirect to a file is a failure', () => check(http('/file'), 'failure', /unsupported protocol scheme "file"$/));
test('an endless body is truncated', () => check({ ...http('/endless'), timeoutSeconds: 60 }, 'success'));
test('a timeout before the response header is a failure', () =>
  check(
    { ...http('/slow'), timeoutSeconds: 0.05 },
    'failure',
    `${url('/slow')}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
  ));
test('a timeout in the response body is a failure', () =>
  check({ ...http('/slow-body'), timeoutSeconds: 0.1 }, 'failure', /while reading body\)$/));
test('a truncated response is a failure', () => check(http('/cut'), 'failure', 'unexpected EOF'));
test('a port without a listener is a failure', () =>
  check(
    { httpGet: { port: 1 } },
    'failure',
    'Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused',
  ));
test('a plain HTTP response to an HTTPS request is a failure', () =>
  check(http('/ok', { scheme: 'HTTPS' }), 'failure', /server gave HTTP response to HTTPS client$/));
test('an unknown port name is an error', () =>
  check({ httpGet: { port: 'none' } }, 'error', 'container c has no port named "none"'));

/** Returns the headers of a probe request as received by the server, except Connection. */
async function headerOf(httpHeaders: { name: string; value: string }[], path = '/ok') {
  requests.length = 0;
  await check(http(path, { httpHeaders }), 'success');
  const { headers } = requests.at(-1)!;
  const pairs = headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]!]] : []));
  return pairs.filter(([name]) => name !== 'Connection');
}
const own = ['User-Agent', 'kube-probe/1.36'];
const any = ['Accept', '*/*'];
const here = ['Host', `127.0.0.1:${port}`];

test('a request has a User-Agent and accepts anything', async () =>
  assert.deepEqual(await headerOf([]), [here, own, any]));
test('a Host header of the handler overrides the address', async () => {
  const host = { name: 'host', value: 'shop.example' };
  assert.deepEqual(await headerOf([host]), [['Host', 'shop.example'], own, any]);
  const referer = ['Referer', `http://127.0.0.1:${port}/redirect`];
  assert.deepEqual(await headerOf([host], '/redirect'), [['Host', 'shop.example'], own, any, referer]);
});
test('header names are canonicalized, and repeated headers are sent repeatedly', async () => {
  const fields = ['x-request-ID', 'X-Request-Id'].map((name, index) => ({ name, value: `${index}` }));
  assert.deepEqual(await headerOf(fields), [here, own, ['X-Request-Id', '0'], ['X-Request-Id', '1'], any]);
});
test('an empty Accept or User-Agent is omitted', async () =>
  assert.deepEqual(await headerOf(['accept', 'User-agent'].map((name) => ({ name, value: '' }))), [here]));
test('a redirected request has a Referer, unless the handler sets one', async () => {
  const referer = ['Referer', `http://127.0.0.1:${port}/redirect`];
  assert.deepEqual(await headerOf([], '/redirect'), [here, own, any, referer]);
  const ownReferer = ['Referer', 'mine'];
  assert.deepEqual(await headerOf([{ name: 'referer', value: 'mine' }], '/redirect'), [here, own, ownReferer, any]);
});
test('the path of a handler is not normalized, but that of a redirect is', async () => {
  const targetOf = async (path: string) => {
    requests.length = 0;
    await check(http(path), 'success');
    return requests.at(-1)!.url;
  };
  assert.equal(await targetOf('/a/../b|c'), '/a/../b%7Cc');
  assert.equal(await targetOf('http://other.invalid/a'), '/a');
  assert.equal(await targetOf('/dotted/a'), '/%2e%2e/b/c');
});
test('a path that results in a URL without a host is a failure', () =>
  check(http('a:b'), 'failure', 'Get "http:b": http: no Host in request URL'));
test("a handler's Content-Length is not sent", async () =>
  assert.deepEqual(await headerOf([{ name: 'content-length', value: '7' }]), [here, own, any]));

test('an open port is a success', () => check({ tcpSocket: { port: port! } }, 'success'));
test('a closed port is a failure', () =>
  check({ tcpSocket: { port: 1 } }, 'failure', 'dial tcp 127.0.0.1:1: connect: connection refused'));
test('an unknown host name is a failure', () =>
  check({ tcpSocket: { host: 'none.invalid', port: 1 }, timeoutSeconds: 20 }, 'failure', /no such host$/));
test('IPv6 addresses are supported', async () => {
  const target = { podIps: ['::1'] };
  assert.match(
    (await probe({ httpGet: { port: 1 } }, target)).output,
    /^Get "http:\/\/\[::1\]:1\/": dial tcp \[::1\]:1: /,
  );
});
test('probing a pod without an address is an error', async () => {
  assert.equal((await probe({ tcpSocket: { port: 1 } }, { podIps: [] })).verdict, 'error');
});

test('probes of localhost do not wait for name resolution', async (t) => {
  t.mock.method(dns, 'lookup', () => undefined); // name servers that do not respond
  await check({ tcpSocket: { host: 'localhost', port: port! }, timeoutSeconds: 20 }, 'success');
  await check({ httpGet: { host: 'localhost', port: port!, path: '/ok' }, timeoutSeconds: 20 }, 'success', /body/);
});

test('exit code 0 is a success', () => check({ exec: { command: ['exit', '0'] } }, 'success'));
test('a nonzero exit code is a failure', () => check({ exec: { command: ['exit', '1'] } }, 'failure', 'said'));
test('a hanging command is a failure', () =>
  check({ exec: { command: ['hang', 'on'] } }, 'failure', 'command timed out: "hang on" timed out after 1s'));
test('a successful command is a success, even if the runtime responds after its timeout', () =>
  check({ exec: { command: ['late', '0'] } }, 'success', 'said'));
test('a command that cannot be executed is an error, and is tried three times', async () => {
  commands.length = 0;
  await check({ exec: { command: ['broken'] } }, 'error', 'rpc error: code = Internal desc = no runtime');
  assert.equal(commands.length, 3);
});
test('literal environment variables are expanded in a command, those from sources are empty, unknown ones stay', async () => {
  commands.length = 0;
  await check({ exec: { command: ['exit', '$(CODE)', '$(FROM)', '$(NONE)', '$$(CODE)'] } }, 'failure');
  assert.deepEqual(commands, [['exit', '3', '', '$(NONE)', '$(CODE)']]);
});

const health = (service?: string) => ({ grpc: { port: grpcPort!, service } });
test('a serving gRPC service is a success', () => check(health(), 'success'));
test('a gRPC service that is not serving is a failure', () =>
  check(health('ill'), 'failure', 'service unhealthy (responded with "NOT_SERVING")'));
test('an unknown gRPC service is a failure', () =>
  check(health('unknown'), 'failure', 'error: health rpc probe failed: rpc error: code = NotFound desc = no such'));
test('a server without the health service is a failure', () =>
  check(
    health('old'),
    'failure',
    /^error: this server does not implement the grpc health protocol \(grpc.health.v1.Health\): /,
  ));
test('a gRPC port without a listener is a failure', () =>
  check({ grpc: { port: 1 } }, 'failure', /^error: failed to connect service at "127.0.0.1:1": .*connection refused$/));
test('a gRPC server that does not respond is a failure', () =>
  check({ grpc: { port: port! }, timeoutSeconds: 0.2 }, 'failure'));
for (const length of [0, 1, 127, 128, 300, 20_000]) {
  test(`a gRPC service may have a name of ${length} bytes`, async () => {
    await check(health('a'.repeat(length)), 'success');
    assert.equal(services.at(-1)!.length, length);
  });
}

test('thresholds count consecutive results', () => {
  const counter = new ThresholdCounter();
  const thresholds = { success: 1, failure: 3 };
  const said = (['failure', 'failure', 'success', 'failure', 'failure', 'failure'] as const).map((verdict) =>
    counter.count(verdict, thresholds),
  );
  assert.deepEqual(said, [undefined, undefined, 'success', undefined, undefined, 'failure']);
});
