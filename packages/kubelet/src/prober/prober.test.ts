import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { Container, Probe } from '../api/types.ts';
import { Prober } from './prober.ts';
import { ThresholdCounter } from './worker.ts';

const endless = new Readable({ read: () => void endless.push(Buffer.alloc(1 << 16)) });
const server = createServer((request, response) => {
  if (request.url === '/redirect') return response.writeHead(302, { location: '/ok' }).end();
  if (request.url === '/away') return response.writeHead(302, { location: 'http://other.invalid/' }).end();
  if (request.url === '/loop') return response.writeHead(302, { location: '/loop' }).end();
  if (request.url === '/file') return response.writeHead(302, { location: `file://127.0.0.1/etc/passwd` }).end();
  if (request.url === '/slow') return;
  if (request.url === '/endless') return void endless.pipe(response.writeHead(200));
  if (request.url === '/cut') {
    response.writeHead(200, { 'content-length': 100 });
    return void response.write('a part', () => response.destroy());
  }
  response.writeHead(request.url === '/ok' && request.headers['x-key'] === 'yes' ? 200 : 503).end('body');
}).listen(0, '127.0.0.1');
const grpc = createHttp2Server();
grpc.on('stream', (stream) => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.from([0, 0, 0, 0, 2, 8, 1]));
});
grpc.listen(0, '127.0.0.1');
await Promise.all(
  [server, grpc].map((one) => one.listening || new Promise((resolve) => one.once('listening', resolve))),
);
after(() => {
  server.closeAllConnections();
  server.close();
  grpc.close();
});

const port = (server.address() as AddressInfo).port;
const grpcPort = (grpc.address() as AddressInfo).port;
const commands = {
  runInContainer: async (_id: string, command: string[]) => {
    if (command[0] === 'hang') throw new PodwrightError('deadline_exceeded', 'not done');
    if (command[0] === 'broken') throw new PodwrightError('internal', 'no runtime');
    return { exitCode: Number(command[1]), output: 'said' };
  },
};
const container = { name: 'c', image: 'x', ports: [{ name: 'web', containerPort: port }] } as unknown as Container;

async function check(probe: Probe, verdict: string) {
  const target = { probe: { timeoutSeconds: 1, ...probe }, container, containerId: 'id', podIps: ['127.0.0.1'] };
  assert.equal((await new Prober(commands).probe(target, new AbortController().signal)).verdict, verdict);
}

const httpHeaders = [{ name: 'X-Key', value: 'yes' }];
test('a 200 is success, with the headers that were asked for', () =>
  check({ httpGet: { path: '/ok', port, httpHeaders } }, 'success'));
test('a port may be named', () => check({ httpGet: { path: '/ok', port: 'web', httpHeaders } }, 'success'));
test('a 503 is failure', () => check({ httpGet: { path: '/ok', port } }, 'failure'));
test('a redirect on the same host is followed', () =>
  check({ httpGet: { path: '/redirect', port, httpHeaders } }, 'success'));
test('a redirect to another host counts as success', () => check({ httpGet: { path: '/away', port } }, 'success'));
test('redirects without an end are failure', () => check({ httpGet: { path: '/loop', port } }, 'failure'));
test('a redirect to a file is failure', () => check({ httpGet: { path: '/file', port } }, 'failure'));
test('a body without an end is read as far as it matters', () =>
  check({ httpGet: { path: '/endless', port }, timeoutSeconds: 60 }, 'success'));
test('no answer in time is failure', () =>
  check({ httpGet: { path: '/slow', port }, timeoutSeconds: 0.05 }, 'failure'));
test('an answer that is cut is failure', () => check({ httpGet: { path: '/cut', port } }, 'failure'));
test('a port without a listener is failure', () => check({ httpGet: { port: 1 } }, 'failure'));
test('an open port is success', () => check({ tcpSocket: { port } }, 'success'));
test('a closed port is failure', () => check({ tcpSocket: { port: 1 } }, 'failure'));
test('exit code 0 is success', () => check({ exec: { command: ['exit', '0'] } }, 'success'));
test('another exit code is failure', () => check({ exec: { command: ['exit', '1'] } }, 'failure'));
test('a command that hangs is failure', () => check({ exec: { command: ['hang'] } }, 'failure'));
test('a runtime that is away counts neither way', () => check({ exec: { command: ['broken'] } }, 'error'));
test('a serving gRPC service is success', () => check({ grpc: { port: grpcPort } }, 'success'));

test('thresholds count answers in a row', () => {
  const counter = new ThresholdCounter();
  const thresholds = { success: 1, failure: 3 };
  const said = (['failure', 'failure', 'success', 'failure', 'failure', 'failure'] as const).map((verdict) =>
    counter.count(verdict, thresholds),
  );
  assert.deepEqual(said, [undefined, undefined, 'success', undefined, undefined, 'failure']);
});
