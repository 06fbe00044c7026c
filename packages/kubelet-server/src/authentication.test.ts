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
import { runChecked, silentLogger, sleep, waitFor } from '@podwright/base';
import { selfSignedCertificate } from '@podwright/certificates';
import { kubeletServerOptions } from '@podwright/kubelet-configuration';
import { TLS_FILES_PERIOD_MS } from './limits.ts';
import { freePort, serveApi, type TestApi } from './served-api.fixture.ts';
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

test('without credentials nothing is told', async (t) => {
  const { ask } = await serveApi(t, { authentication: { anonymous: false } });
  for (const path of ['/pods', '/healthz', '/none', '/exec/a/b/c?output=1']) {
    const { status, body, headers } = await ask(path);
    assert.deepEqual([status, body, headers.connection], [401, 'Unauthorized', 'close'], path);
  }
});

test('the kernel finds out that a client’s host has gone, also while nothing is sent', async (t) => {
  const { port } = await serveApi(t);
  await using socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  const name = (one: number) => `0100007F:${one.toString(16).toUpperCase().padStart(4, '0')}`;
  // proc_net_tcp: local, remote, state (01 is established), queues, timer (02 is keep-alive's)
  const kept = new RegExp(`${name(port)} ${name(socket.localPort!)} 01 \\S+ 02:`);
  const bound = { intervalMs: 10, signal: AbortSignal.timeout(5000) }; // its request is waited for twice as long
  await waitFor(() => kept.test(readFileSync('/proc/net/tcp', 'utf8')) || undefined, bound);
});

test('bearer tokens come from a file, which may change', async (t) => {
  const file = scratch(t);
  const tokenFile = file('tokens', 'first,alice\n');
  const { ask } = await serveApi(t, { authentication: { anonymous: true, tokenFile } });
  const status = async (authorization: string) => (await ask('/pods', { headers: { authorization } })).status;
  assert.equal(await status('Bearer first'), 200);
  assert.equal(await status('bearer first'), 200);
  assert.equal(await status('Bearer other'), 401, 'a wrong token is refused also where anonymous calls are allowed');
  file('tokens', 'other-token\n');
  assert.equal(await status('Bearer first'), 401);
  assert.equal(await status('Bearer other-token'), 200);
  chmodSync(tokenFile, 0o644);
  assert.equal(await status('Bearer other-token'), 401);
});

test('a file of tokens that is wrong keeps the server from starting', async (t) => {
  const file = scratch(t);
  const start = (tokenFile: string) => serveApi(t, { authentication: { anonymous: false, tokenFile } });
  await assert.rejects(start(file('wrong', 'a b\n')), /read the bearer tokens in .*wrong: line 1: not token,user,uid,/);
  await assert.rejects(start(file('none')), /read the bearer tokens in .*none: .*no such file/);
});

test('lines of tokens', () => {
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

/** Authorities and certificates by openssl. */
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

test('client certificates count when one of the authorities made them for clients', async (t) => {
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

test('a client certificate that runs out on a kept connection counts no more', async (t) => {
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

/** A server's certificate by openssl, as its files. */
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

const becomes = (what: () => Promise<boolean>) =>
  waitFor(async () => (await what()) || undefined, { intervalMs: 50, signal: AbortSignal.timeout(30_000) });

test('another certificate of the server is taken while it runs, and one that is broken is not', async (t) => {
  const file = scratch(t);
  const [first, second] = [await serverFiles(file, 'first'), await serverFiles(file, 'second')];
  const [certFile, privateKeyFile] = [file('cert', first.cert), file('key', first.key)];
  const problems: string[] = [];
  const logger = { ...silentLogger, error: (fields: object) => void problems.push(JSON.stringify(fields)) };
  const tls = { ...kubeletServerOptions().tls, certFile, privateKeyFile };
  const { port } = await serveApi(t, { tls, logger });
  assert.equal(await servedName(port), 'first');
  file('cert', second.cert); // whose key is not there yet
  await becomes(async () => problems.length > 0);
  assert.match(problems[0]!, /read the server's certificate .*: the key is not that of the certificate/);
  assert.equal(await servedName(port), 'first');
  file('key', second.key);
  await becomes(async () => (await servedName(port)) === 'second');
  file('cert', `${second.cert}-----BEGIN CERTIFICATE-----\nhalf`);
  await becomes(async () => problems.length > 1);
  assert.equal(await servedName(port), 'second');
});

test('other authorities of clients are taken while the server runs, and open connections count no more', async (t) => {
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
  await becomes(async () => problems.length > 0);
  assert.match(problems[0]!, /read the authorities of clients in .*authorities: number 2: /);
  assert.deepEqual([await status(good), await status(foreign)], [200, 401]);
  const busy = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...good });
  busy.setEncoding('utf8').on('error', () => undefined);
  let heard = '';
  busy.on('data', (text: string) => {
    heard += text;
  });
  busy.write('GET /pods HTTP/1.1\r\nhost: x\r\n\r\n');
  await becomes(async () => heard.endsWith('\r\n0\r\n\r\n'));
  heard = '';
  busy.write('GET /pods HTTP/1.1\r\nhost: x\r\n'); // its head is not finished, so that it is not idle
  file('authorities', other);
  await becomes(async () => (await status(good).catch(() => 0)) === 401);
  assert.equal(await status(foreign), 200);
  busy.end('\r\n');
  await once(busy, 'close');
  assert.match(heard, /^HTTP\/1\.1 401 /);
});

/** A way to a server that lets through what a client says first, and the rest once it is `opened`. */
async function slowWay(t: TestContext, port: number): Promise<{ port: number; held: Promise<void>; open: () => void }> {
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

test('a handshake that was begun with authorities that count no more does not outlive them', async (t) => {
  const file = scratch(t);
  const { good, foreign } = await certificates(file);
  const clientCaFile = file('authorities', readFileSync(file('ca.crt'), 'utf8'));
  const { ask, port } = await serveApi(t, { authentication: { anonymous: false, clientCaFile } });
  // one that is asked just as the authorities change is cut off, too
  const isKnown = (who: typeof good) =>
    ask('/pods', who).then(
      ({ status }) => status === 200,
      () => false,
    );
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    file('authorities', readFileSync(file('ca.crt'), 'utf8'));
    await becomes(() => isKnown(good));
    const way = await slowWay(t, port);
    const place = { host: '127.0.0.1', rejectUnauthorized: false, maxVersion };
    const slow = connectTls({ ...place, port: way.port, ...good });
    let heard = '';
    slow.setEncoding('latin1').on('error', () => undefined);
    slow.on('data', (text: string) => {
      heard += text;
    });
    slow.write('GET /pods HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    await way.held;
    file('authorities', readFileSync(file('other.crt'), 'utf8'));
    await becomes(() => isKnown(foreign));
    way.open();
    await becomes(async () => slow.closed);
    assert.doesNotMatch(heard, /^HTTP\/1\.1 200 /, maxVersion);
  }
});

test('a certificate of our own is made once, is its owner’s alone, and is good for the node’s names', async (t) => {
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
  assert.equal((await ask('/healthz')).status, 200, 'it goes on without its file');
  assert.equal(existsSync(path), false);
  writeFileSync(path, certificate.toString());
  const text = await runChecked('openssl', ['x509', '-in', path, '-noout', '-text']);
  assert.match(text, /TLS Web Server Authentication/);
});

test('certificates have times before and after 2050', () => {
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

test('health is told on a port of its own, and nothing else', async (t) => {
  const healthzPort = await freePort();
  await serveApi(t, { port: 0, healthzPort });
  const url = `http://127.0.0.1:${healthzPort}`;
  assert.equal(await (await fetch(`${url}/healthz`)).text(), 'ok');
  assert.equal(await (await fetch(`${url}/healthz/syncloop`)).text(), 'ok');
  assert.equal((await fetch(`${url}/pods`)).status, 404);
});

test('the read-only port tells pods and metrics in plain text, and runs nothing', async (t) => {
  const readOnlyPort = await freePort();
  await serveApi(t, { port: 0, readOnlyPort });
  const url = `http://127.0.0.1:${readOnlyPort}`;
  assert.equal((await fetch(`${url}/pods`)).status, 200);
  assert.match(await (await fetch(`${url}/metrics`)).text(), /server_type="readonly"/);
  assert.equal((await fetch(`${url}/run/a/b/c?cmd=id`, { method: 'POST' })).status, 405);
});

test('a port that is taken is an error that names it', async (t) => {
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

test('heads that are too long, halves of requests and no TLS at all end their connections', async (t) => {
  const api = await serveApi(t);
  const refused = await api.ask('/pods', { headers: { long: 'x'.repeat(300 << 10) } }).then(
    ({ status }) => status,
    (error: NodeJS.ErrnoException) => error.code,
  );
  // a connection that ends with bytes unread may take its answer with it
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

test('a long body is not read to its end', async (t) => {
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

test('many connections of others keep nobody out who is known', async (t) => {
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
