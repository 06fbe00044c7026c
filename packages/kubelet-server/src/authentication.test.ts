import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { Registry, silentLogger, sleep, waitFor } from '@podwright/base';
import { selfSignedCertificate } from '@podwright/certificates';
import { runChecked } from '@podwright/host';
import { kubeletServerOptions } from '@podwright/kubelet-configuration';
import { MAX_CALLER_CONNECTIONS, STRANGER_RATE, TLS_FILES_PERIOD_MS } from './limits.ts';
import { serveKubeletApi } from './serve-kubelet-api.ts';
import { freePort, serveApi, type TestApi } from './served-api.fixture.ts';
import type { ConnectionEnds } from './stranger-limit.ts';
import { opensslName } from './tls-settings.ts';
import { parseTokens } from './token-file.ts';

const DAY_MS = 86_400_000;
const MANY = 1100;

function scratch(t: TestContext): (name: string, text?: string) => string {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-auth-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return (name, text) => {
    if (text !== undefined) writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
}

test('requests without credentials are refused, whatever their path', async (t) => {
  const { ask } = await serveApi(t, { authentication: { anonymous: false } });
  for (const path of ['/pods', '/healthz', '/none', '/exec/a/b/c?output=1']) {
    const { status, body, headers } = await ask(path);
    assert.deepEqual([status, body, headers.connection], [401, 'Unauthorized', 'close'], path);
  }
});

test('the kernel probes idle connections to detect that a client’s host is dead', async (t) => {
  const { port } = await serveApi(t);
  await using socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  const name = (one: number) => `0100007F:${one.toString(16).toUpperCase().padStart(4, '0')}`;
  // fields in proc_net_tcp: local and remote address, state (01: established), queues, timer (02: keep-alive)
  const keepsAlive = new RegExp(`${name(port)} ${name(socket.localPort!)} 01 \\S+ 02:`);
  const bound = { intervalMs: 10, signal: AbortSignal.timeout(5000) }; // less than the time for a request, after which the server closes the connection
  await waitFor(() => keepsAlive.test(readFileSync('/proc/net/tcp', 'utf8')) || undefined, bound);
});

test('bearer tokens are read from a file, and reloaded when it changes', async (t) => {
  const file = scratch(t);
  const tokenFile = file('tokens', 'first,alice\n');
  const { ask } = await serveApi(t, { authentication: { anonymous: true, tokenFile } });
  const status = async (authorization: string) => (await ask('/pods', { headers: { authorization } })).status;
  assert.equal(await status('Bearer first'), 200);
  assert.equal(await status('bearer first'), 200);
  assert.equal(await status('Bearer other'), 401, 'a wrong token is refused even if anonymous requests are allowed');
  file('tokens', 'other-token\n');
  assert.equal(await status('Bearer first'), 401);
  assert.equal(await status('Bearer other-token'), 200);
  chmodSync(tokenFile, 0o644);
  assert.equal(await status('Bearer other-token'), 401);
});

test('the server does not start with an invalid token file', async (t) => {
  const file = scratch(t);
  const start = (tokenFile: string) => serveApi(t, { authentication: { anonymous: false, tokenFile } });
  await assert.rejects(start(file('wrong', 'a b\n')), /read the bearer tokens in .*wrong: line 1: not token,user,uid,/);
  await assert.rejects(start(file('none')), /read the bearer tokens in .*none: .*no such file/);
});

test('a token file has lines of token,user,uid,groups', () => {
  const users = (text: string) => parseTokens(text).map(({ token, user }) => [token, user.name, ...user.groups]);
  assert.deepEqual(users('# comment\n\nt\nu,bob\nv,eve,1\nw,joe,2,"a,b"\nx,jim,3,c\r\n'), [
    ['t', 'podwright:admin'],
    ['u', 'bob'],
    ['v', 'eve'],
    ['w', 'joe', 'a', 'b'],
    ['x', 'jim', 'c'],
  ]);
  for (const wrong of ['a b', ',user', '"a"', 'a,b,c,d,e'])
    assert.throws(() => parseTokens(wrong), /line 1: not token/);
});

async function certificates(file: (name: string) => string) {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  const openssl = (...args: string[]) => runChecked('openssl', args);
  for (const ca of ['ca', 'other'])
    await openssl(
      'req',
      '-x509',
      ...key,
      '-keyout',
      file(`${ca}.key`),
      '-out',
      file(`${ca}.crt`),
      '-subj',
      `/CN=${ca}`,
    );
  const client = async (name: string, ca: string, usage: string) => {
    const signed = ['-CA', file(`${ca}.crt`), '-CAkey', file(`${ca}.key`)];
    const subject = ['-subj', `/O=system:masters/CN=${name}`, '-addext', `extendedKeyUsage=${usage}`];
    const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)];
    await openssl('req', '-x509', ...key, ...files, ...subject, ...signed);
    return { cert: readFileSync(file(`${name}.crt`)), key: readFileSync(file(`${name}.key`)) };
  };
  return {
    good: await client('good', 'ca', 'clientAuth'),
    foreign: await client('foreign', 'other', 'clientAuth'),
    server: await client('server', 'ca', 'serverAuth'),
  };
}

test('an authenticated caller is still known after a server restart', async (t) => {
  const file = scratch(t);
  const tokenFile = file('tokens', 'first,alice\n');
  const caller = {
    user: 1000,
    peerUser: () => caller.user,
    allows: (_: ConnectionEnds): boolean => false,
    onListening: (_: unknown, allows?: (ends: ConnectionEnds) => boolean) => {
      caller.allows = allows!;
    },
  };
  const options = { authentication: { anonymous: false, tokenFile } };
  const { ask, served, fake } = await serveApi(t, { ...options, ...caller });
  assert.equal((await ask('/pods')).status, 401);
  assert.equal((await ask('/pods', { headers: { authorization: 'Bearer first' } })).status, 200);
  await served.close();
  const next = await serveKubeletApi({
    ...caller,
    kubelet: fake.handle,
    registry: new Registry(),
    logger: silentLogger,
  });
  t.after(() => next.close());
  const allowed = () => {
    const ends = { localAddress: '::1', localPort: 1, remoteAddress: '::1', remotePort: 2 };
    return Array.from({ length: MANY }, () => caller.allows(ends)).filter(Boolean).length;
  };
  assert.equal(allowed(), MANY);
  caller.user = 1001;
  assert.equal(allowed(), STRANGER_RATE.burst);
});

test('client certificates are accepted if signed by a client CA for client authentication', async (t) => {
  const file = scratch(t);
  const { good, foreign, server } = await certificates(file);
  const { ask } = await serveApi(t, { authentication: { anonymous: true, clientCaFile: file('ca.crt') } });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    assert.equal((await ask('/pods', { ...good, maxVersion })).status, 200);
    assert.equal((await ask('/pods', { ...foreign, maxVersion })).status, 401);
    assert.equal((await ask('/pods', { ...server, maxVersion })).status, 401);
    assert.equal((await ask('/pods', { maxVersion })).status, 200, 'anonymous');
  }
});

test('a client certificate that expires on an open connection is refused', async (t) => {
  const file = scratch(t);
  const { good } = await certificates(file);
  const { port } = await serveApi(t, { authentication: { anonymous: true, clientCaFile: file('ca.crt') } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ask = async () => {
    const request = get({ host: '127.0.0.1', port, path: '/pods', rejectUnauthorized: false, agent, ...good });
    const [response] = await once(request, 'response');
    response.resume();
    await once(response, 'end');
    return [response.statusCode, request.reusedSocket];
  };
  assert.deepEqual(
    [await ask(), await ask()],
    [
      [200, false],
      [200, true],
    ],
  );
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * DAY_MS });
  assert.deepEqual(await ask(), [401, true]);
});

async function serverFiles(file: (name: string) => string, name: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = [file(`${name}.crt`), file(`${name}.key`)];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', `/CN=${name}`];
  await runChecked('openssl', ['req', '-x509', ...made, '-keyout', key, '-out', cert]);
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

async function servedName(port: number): Promise<string> {
  const client = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(client, 'secureConnect');
  const { subject } = client.getPeerCertificate();
  client.destroy();
  return subject.CN as string;
}

const becomesTrue = (condition: () => Promise<boolean>) =>
  waitFor(async () => (await condition()) || undefined, { intervalMs: 50, signal: AbortSignal.timeout(30_000) });

test('the server reloads a changed certificate, but not a broken one', async (t) => {
  const file = scratch(t);
  const [first, second] = [await serverFiles(file, 'first'), await serverFiles(file, 'second')];
  const [certFile, privateKeyFile] = [file('cert', first.cert), file('key', first.key)];
  const problems: string[] = [];
  const logger = { ...silentLogger, error: (fields: object) => void problems.push(JSON.stringify(fields)) };
  const tls = { ...kubeletServerOptions().tls, certFile, privateKeyFile };
  const { port } = await serveApi(t, { tls, logger });
  assert.equal(await servedName(port), 'first');
  file('cert', second.cert); // its key is not written yet
  await becomesTrue(async () => problems.length > 0);
  assert.match(problems[0]!, /read the server's certificate .*: the key does not match the certificate/);
  assert.equal(await servedName(port), 'first');
  file('key', second.key);
  await becomesTrue(async () => (await servedName(port)) === 'second');
  file('cert', `${second.cert}-----BEGIN CERTIFICATE-----\nhalf`);
  await becomesTrue(async () => problems.length > 1);
  assert.equal(await servedName(port), 'second');
});

test('the server reloads changed client CAs, and open connections lose their authentication', async (t) => {
  const file = scratch(t);
  const { good, foreign } = await certificates(file);
  const other = readFileSync(file('other.crt'), 'utf8');
  const clientCaFile = file('authorities', readFileSync(file('ca.crt'), 'utf8'));
  const problems: string[] = [];
  const logger = { ...silentLogger, error: (fields: object) => void problems.push(JSON.stringify(fields)) };
  const { ask, port } = await serveApi(t, { authentication: { anonymous: false, clientCaFile }, logger });
  const status = async (who: typeof good) => (await ask('/pods', who)).status;
  assert.deepEqual([await status(good), await status(foreign)], [200, 401]);
  file('authorities', `${other}-----BEGIN CERTIFICATE-----\nhalf`);
  await becomesTrue(async () => problems.length > 0);
  assert.match(problems[0]!, /read the client CAs in .*authorities: number 2: /);
  assert.deepEqual([await status(good), await status(foreign)], [200, 401]);
  const busy = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...good });
  busy.setEncoding('utf8').on('error', () => undefined);
  let received = '';
  busy.on('data', (text: string) => {
    received += text;
  });
  busy.write('GET /pods HTTP/1.1\r\nhost: x\r\n\r\n');
  await becomesTrue(async () => received.endsWith('\r\n0\r\n\r\n'));
  received = '';
  busy.write('GET /pods HTTP/1.1\r\nhost: x\r\n'); // an unfinished head, so that the connection is not idle
  file('authorities', other);
  await becomesTrue(async () => (await status(good).catch(() => 0)) === 401);
  assert.equal(await status(foreign), 200);
  busy.end('\r\n');
  await once(busy, 'close');
  assert.match(received, /^HTTP\/1\.1 401 /);
});

/** A TCP proxy that forwards a client's first bytes immediately, and the rest only after `open()` has been called. */
async function slowProxy(
  t: TestContext,
  port: number,
): Promise<{ port: number; held: Promise<void>; open: () => void }> {
  const [held, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = createServer((client) => {
    const onward = connect(port, '127.0.0.1').on('error', () => client.destroy());
    client.on('error', () => onward.destroy()).on('close', () => onward.destroy());
    onward.on('close', () => client.destroy()).pipe(client);
    client.once('data', (first: Buffer) => {
      onward.write(first);
      client.on('data', (more: Buffer) => {
        held.resolve();
        void opened.promise.then(() => onward.write(more));
      });
    });
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, held: held.promise, open: opened.resolve };
}

test('a handshake started with removed client CAs is dropped', async (t) => {
  const file = scratch(t);
  const { good, foreign } = await certificates(file);
  const clientCaFile = file('authorities', readFileSync(file('ca.crt'), 'utf8'));
  const { ask, port } = await serveApi(t, { authentication: { anonymous: false, clientCaFile } });
  // a request sent while the server replaces its client CAs may fail, so an error counts as a refusal and the caller polls again
  const isKnown = (who: typeof good) =>
    ask('/pods', who).then(
      ({ status }) => status === 200,
      () => false,
    );
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    file('authorities', readFileSync(file('ca.crt'), 'utf8'));
    await becomesTrue(() => isKnown(good));
    const proxy = await slowProxy(t, port);
    const options = { host: '127.0.0.1', rejectUnauthorized: false, maxVersion };
    const slow = connectTls({ ...options, port: proxy.port, ...good });
    let received = '';
    slow.setEncoding('latin1').on('error', () => undefined);
    slow.on('data', (text: string) => {
      received += text;
    });
    slow.write('GET /pods HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    await proxy.held;
    file('authorities', readFileSync(file('other.crt'), 'utf8'));
    await becomesTrue(() => isKnown(foreign));
    proxy.open();
    await becomesTrue(async () => slow.closed);
    assert.doesNotMatch(received, /^HTTP\/1\.1 200 /, maxVersion);
  }
});

test('the self-signed certificate is created once, has a private key file, and is valid for the node’s names', async (t) => {
  const { fake, port, ask } = await serveApi(t);
  assert.equal((await ask('/healthz')).status, 200);
  const path = join(fake.handle.options.rootDir, 'pki/kubelet.crt');
  const certificate = new X509Certificate(readFileSync(path));
  assert.equal(statSync(path.replace('.crt', '.key')).mode & 0o777, 0o600);
  for (const name of ['node', 'localhost']) assert.equal(certificate.checkHost(name), name);
  for (const address of ['127.0.0.1', '::1', '192.0.2.1']) assert.ok(certificate.checkIP(address), address);
  const trusted = connectTls({ host: '127.0.0.1', port, ca: readFileSync(path) });
  await once(trusted, 'secureConnect');
  assert.equal(trusted.authorized, true);
  trusted.destroy();
  rmSync(path);
  await sleep(2 * TLS_FILES_PERIOD_MS);
  assert.equal((await ask('/healthz')).status, 200, 'the server keeps the certificate after its file is deleted');
  assert.equal(existsSync(path), false);
  writeFileSync(path, certificate.toString());
  const text = await runChecked('openssl', ['x509', '-in', path, '-noout', '-text']);
  assert.match(text, /TLS Web Server Authentication/);
});

test('validity may be before or after 2050, when the time encoding changes', () => {
  for (const year of [2030, 2060]) {
    const notBefore = new Date(Date.UTC(year, 0, 1));
    const notAfter = new Date(notBefore.getTime() + DAY_MS);
    const made = selfSignedCertificate({ commonName: 'x', names: ['x', 'fd00::1:0:2'], notBefore, notAfter });
    const certificate = new X509Certificate(made.certificate);
    assert.equal(Date.parse(certificate.validTo), notAfter.getTime());
    assert.ok(certificate.checkIP('fd00::1:0:2'));
    assert.ok(certificate.verify(certificate.publicKey));
  }
});

test('cipher suites and versions have Go’s names', async (t) => {
  assert.equal(opensslName('TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'), 'ECDHE-RSA-AES128-GCM-SHA256');
  assert.equal(opensslName('TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256'), 'ECDHE-ECDSA-CHACHA20-POLY1305');
  assert.equal(opensslName('TLS_RSA_WITH_AES_256_CBC_SHA'), 'AES256-SHA');
  assert.throws(() => opensslName('TLS_FOO'), /tlsCipherSuites: "TLS_FOO" is not a cipher suite/);
  const tls = kubeletServerOptions().tls;
  const { ask } = await serveApi(t, { tls: { ...tls, minVersion: 'VersionTLS13' } });
  await assert.rejects(ask('/healthz', { maxVersion: 'TLSv1.2' }), /alert protocol version|ECONNRESET|version/);
  assert.equal((await ask('/healthz')).status, 200);
});

test('the healthz port serves only /healthz', async (t) => {
  const healthzPort = await freePort();
  await serveApi(t, { port: 0, healthzPort });
  const url = `http://127.0.0.1:${healthzPort}`;
  assert.equal(await (await fetch(`${url}/healthz`)).text(), 'ok');
  assert.equal(await (await fetch(`${url}/healthz/syncloop`)).text(), 'ok');
  assert.equal((await fetch(`${url}/pods`)).status, 404);
});

test('the read-only port serves pods and metrics over plain HTTP, and runs no commands', async (t) => {
  const readOnlyPort = await freePort();
  await serveApi(t, { port: 0, readOnlyPort });
  const url = `http://127.0.0.1:${readOnlyPort}`;
  assert.equal((await fetch(`${url}/pods`)).status, 200);
  assert.match(await (await fetch(`${url}/metrics`)).text(), /server_type="readonly"/);
  assert.equal((await fetch(`${url}/run/a/b/c?cmd=id`, { method: 'POST' })).status, 405);
  assert.equal((await fetch(`${url}/podwright/v1/traces/1234`)).status, 404);
});

test('a port in use is an error that names the address', async (t) => {
  const { port } = await serveApi(t);
  await assert.rejects(serveApi(t, { port }), new RegExp(`serve the kubelet's API on 127.0.0.1 port ${port}: `));
});

async function dial(t: TestContext, { port }: TestApi): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('overlong heads, truncated requests and plain text on the TLS port close the connection', async (t) => {
  const api = await serveApi(t);
  const refused = await api.ask('/pods', { headers: { long: 'x'.repeat(300 << 10) } }).then(
    ({ status }) => status,
    (error: NodeJS.ErrnoException) => error.code,
  );
  // the server closes the connection without reading the rest of the request, so its response might be lost
  assert.ok([431, 'ECONNRESET', 'EPIPE'].includes(refused ?? ''), String(refused));
  assert.notEqual((await api.ask(`/exec/a/b/c?output=1&command=${'x'.repeat(200 << 10)}`)).status, 431);
  const plain = await dial(t, api);
  plain.write('GET /pods HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(plain, 'close');
  const half = connectTls({ host: '127.0.0.1', port: api.port, rejectUnauthorized: false });
  half.on('error', () => undefined);
  half.end('GET /pods HTTP/1.1\r\nhost: x\r\n');
  half.resume();
  await once(half, 'close');
  assert.equal((await api.ask('/pods')).status, 200);
});

test('an overlong body is not read to the end', async (t) => {
  const { port } = await serveApi(t);
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.on('error', () => undefined);
  socket.write('POST /stats/summary HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n');
  socket.resume();
  const timer = setInterval(() => socket.write(Buffer.alloc(64 << 10)), 1);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(timer);
  assert.ok(socket.bytesWritten < 100 << 20);
});

test('many unauthenticated connections do not lock out an authenticated client', async (t) => {
  const file = scratch(t);
  const api = await serveApi(t, { authentication: { anonymous: false, tokenFile: file('tokens', 'good\n') } });
  const status = async () => (await api.ask('/pods', { headers: { authorization: 'Bearer good' } })).status;
  const sockets: Socket[] = [];
  for (let count = 0; count < MANY; count++) sockets.push(await dial(t, api));
  assert.equal(await status(), 200);
  const closed = () => sockets.filter((socket) => socket.closed).length;
  await waitFor(() => closed() >= MANY - 1000 || undefined, { intervalMs: 10, signal: AbortSignal.timeout(5000) });
  assert.ok(closed() < 200, `${closed()} of ${MANY} were closed at once`);
});

test('an authenticated client with many idle connections does not lock out others', async (t) => {
  const tokenFile = scratch(t)('tokens', 'greedy,greedy\nother,other\n');
  const api = await serveApi(t, { authentication: { anonymous: false, tokenFile } });
  const ask = async (token: string) => {
    const socket = connectTls({ host: '127.0.0.1', port: api.port, rejectUnauthorized: false });
    t.after(() => socket.destroy());
    socket
      .on('error', () => undefined)
      .write(`GET /healthz HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    await once(socket, 'data');
    return socket;
  };
  const other = await ask('other');
  const sockets: Socket[] = [];
  for (let count = 0; count < MAX_CALLER_CONNECTIONS + 10; count++) sockets.push(await ask('greedy'));
  const closed = () => sockets.map((socket) => socket.closed);
  const bound = { intervalMs: 10, signal: AbortSignal.timeout(5000) };
  await waitFor(() => closed().filter(Boolean).length >= 10 || undefined, bound);
  assert.deepEqual(closed().indexOf(false), 10, 'the oldest ones are closed');
  assert.ok(!other.closed);
});
