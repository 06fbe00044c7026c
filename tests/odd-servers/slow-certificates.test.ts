/** Peers whose certificates are slow to decode, or whose signatures are slow to verify, do not stall this process. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, createServer, type SecureVersion } from 'node:tls';
import { answerTo } from '../../packages/api-server/src/backends/backend-response.ts';
import { dialError } from '../../packages/api-server/src/backends/dial-error.ts';
import { networkBackend } from '../../packages/api-server/src/backends/network-backend.ts';
import { TestServer } from '../../packages/api-server/src/server/test-server.fixture.ts';
import { clientContext, errorMessage, limitClientChains, setChainLimits } from '../../packages/base/src/index.ts';
import { fetchManifest } from '../../packages/cli/src/manifests/manifest-url.ts';
import { openServer } from '../../packages/grpc/src/server/bare-client.fixture.ts';
import { HttpClient } from '../../packages/images/src/registry/http-client.ts';
import { Prober } from '../../packages/kubelet/src/prober/prober.ts';
import { serveApi } from '../../packages/kubelet-server/src/served-api.fixture.ts';
import { chainLimiter } from '../../packages/system/src/index.ts';
import { LARGE_CHAIN, sendChain, serveChain, slowChain } from './slow-chain.fixture.ts';

const BOUND_MS = 10_000;
/** A fatal alert, illegal_parameter, which OpenSSL sends without reading an oversized message. */
const REFUSAL = '1503030002022f';
/** Maximum number of the test's certificates that fits in 16 KiB. */
const SMALL_CHAIN = 11;

const commands = { runInContainer: () => Promise.reject(new Error('not called')) };
const limiter = chainLimiter((error) => assert.fail(String(error)));
setChainLimits(limiter);

async function registry(port: number): Promise<void> {
  const http = new HttpClient({ stallTimeoutMs: BOUND_MS, documentTimeoutMs: BOUND_MS, environment: {} });
  const tls = { ca: [], clientCertificates: [], skipVerify: true };
  try {
    const request = { method: 'GET' as const, url: `https://127.0.0.1:${port}/`, headers: {}, tls };
    await http.send({ ...request, signal: AbortSignal.timeout(BOUND_MS) });
  } finally {
    http.close();
  }
}

function probe(port: number): Promise<unknown> {
  const container = { name: 'c', image: 'i' };
  const httpGet = { port, scheme: 'HTTPS' as const };
  const target = { probe: { timeoutSeconds: 10, httpGet }, container, containerId: 'id', podIps: ['127.0.0.1'] };
  return new Prober(commands).probe(target, AbortSignal.timeout(BOUND_MS));
}

const clients: Record<string, (port: number) => Promise<unknown>> = {
  'a probe': probe,
  'a registry': registry,
  'a proxy of the API server': (port) => {
    const outgoing = networkBackend({ scheme: 'https', host: '127.0.0.1', port }).request({
      method: 'GET',
      path: '/',
      headers: {},
    });
    outgoing.end();
    return answerTo(outgoing, AbortSignal.timeout(BOUND_MS)).catch((error: unknown) => dialError(error, 'pod'));
  },
  'a manifest URL': (port) => fetchManifest(`https://127.0.0.1:${port}/`),
};

for (const [client, call] of Object.entries(clients))
  test(`${client} refuses a large chain before it verifies a signature`, async (t) => {
    const { port } = await serveChain(t, LARGE_CHAIN);
    const answer = await call(port).catch(errorMessage);
    assert.match(JSON.stringify(answer), /certificates are larger than 16 KiB/);
  });

type Files = { certificateFile: string; key: Buffer; certificate: Buffer };

const serverPair = ({ key, certificate }: Files) => ({ key, cert: certificate });

function certificateFiles(newKey = ['-newkey', 'rsa:2048']): Files & Disposable {
  const directory = mkdtempDisposableSync(join(tmpdir(), 'pw-slow-chain-'));
  const [key, certificate] = [join(directory.path, 'key.pem'), join(directory.path, 'certificate.pem')];
  const options = ['-x509', ...newKey, '-nodes', '-subj', '/CN=localhost'];
  execFileSync('openssl', ['req', ...options, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  return {
    certificateFile: certificate,
    key: readFileSync(key),
    certificate: readFileSync(certificate),
    [Symbol.dispose]: () => directory.remove(),
  };
}

test('servers reject a large certificate chain from a client before verifying any signature', async (t) => {
  using files = certificateFiles();
  const { key, certificate } = files;
  await using api = await TestServer.start();
  const kubelet = await serveApi(t, { authentication: { anonymous: false, clientCaFile: files.certificateFile } });
  const tcp = { address: '127.0.0.1', port: 0, tls: { key, certificate, clientCa: certificate } };
  const cri = await openServer(t, { tcp });
  const ports = { api: api.port, kubelet: kubelet.port, cri: cri.server.tcpPort! };
  for (const [server, port] of Object.entries(ports))
    assert.equal((await sendChain(port, LARGE_CHAIN)).toString('hex'), REFUSAL, server);
  api.listeners.replaceCertificate({
    certificate: certificate.toString(),
    key: key.toString(),
    clientAuthorities: [certificate.toString()],
  });
  assert.equal((await sendChain(api.port, LARGE_CHAIN)).toString('hex'), REFUSAL, 'with another certificate');
});

const EXPLICIT_CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit'];

test('clients refuse a key on an explicit curve, and say so', async (t) => {
  using files = certificateFiles(EXPLICIT_CURVE);
  const server = createServer(serverPair(files)).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => undefined);
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const [client, call] of Object.entries(clients)) {
    const answer = await call(port).catch(errorMessage);
    assert.match(JSON.stringify(answer), /an elliptic curve that has no name/, client);
  }
});

for (const version of ['TLSv1.2', 'TLSv1.3'] satisfies SecureVersion[])
  test(`a server refuses a client's key on an explicit curve, and accepts one on a named curve, with ${version}`, async (t) => {
    using explicit = certificateFiles(EXPLICIT_CURVE);
    using named = certificateFiles(EXPLICIT_CURVE.slice(0, 4));
    const server = createServer({ ...serverPair(named), requestCert: true, rejectUnauthorized: false });
    limitClientChains(server);
    const subjects: string[] = [];
    server.on('secureConnection', (socket) => {
      subjects.push(socket.getPeerX509Certificate()!.subject);
      socket.end();
    });
    t.after(() => server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const dial = async (files: Files) => {
      const secureContext = clientContext('server', { ...serverPair(files), maxVersion: version });
      const socket = connect({ host: '127.0.0.1', port, secureContext, rejectUnauthorized: false });
      socket.on('error', () => undefined).resume();
      await new Promise((resolve) => socket.once('close', resolve));
    };
    const errors: string[] = [];
    server.on('tlsClientError', (error) => errors.push(error.message));
    await dial(explicit);
    assert.match(errors.join(), /length mismatch|invalid context/);
    assert.deepEqual(subjects, []);
    await dial(named);
    assert.deepEqual(subjects, ['CN=localhost']);
    await dial({ ...named, certificate: Buffer.concat(Array.from({ length: 11 }, () => named.certificate)) });
    assert.deepEqual(subjects, ['CN=localhost']);
  });

/** Returns the minimum CPU time (ms) of several handshakes with a server. */
async function handshakeCost(t: TestContext): Promise<number> {
  const { port } = await serveChain(t, slowChain(SMALL_CHAIN));
  const costs: number[] = [];
  for (let attempt = 0; attempt < 4; attempt++) {
    const secureContext = clientContext('unverifiedServer', {});
    const before = process.cpuUsage();
    const socket = connect({ host: '127.0.0.1', port, secureContext, rejectUnauthorized: false });
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('close', resolve));
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1000);
  }
  return Math.min(...costs);
}

test('a probe verifies few signatures of a small chain', async (t) => {
  t.after(() => setChainLimits(limiter));
  const limited = await handshakeCost(t);
  setChainLimits(undefined);
  const unlimited = await handshakeCost(t);
  assert.ok(limited < unlimited / 2, `${limited} ms, without limits ${unlimited} ms`);
});
