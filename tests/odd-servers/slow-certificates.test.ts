/** Peers that send many certificates whose signatures take long to verify do not stall this process. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { answerTo } from '../../packages/api-server/src/backends/backend-response.ts';
import { dialError } from '../../packages/api-server/src/backends/dial-error.ts';
import { networkBackend } from '../../packages/api-server/src/backends/network-backend.ts';
import { TestServer } from '../../packages/api-server/src/server/test-server.fixture.ts';
import { clientContext, errorMessage, setChainLimits } from '../../packages/base/src/index.ts';
import { fetchManifest } from '../../packages/cli/src/manifests/manifest-url.ts';
import { openServer } from '../../packages/grpc/src/server/bare-client.fixture.ts';
import { HttpClient } from '../../packages/images/src/registry/http-client.ts';
import { Prober } from '../../packages/kubelet/src/prober/prober.ts';
import { serveApi } from '../../packages/kubelet-server/src/served-api.fixture.ts';
import { chainLimiter } from '../../packages/system/src/index.ts';
import { LARGE_CHAIN, sendChain, serveChain, slowChain } from './slow-chain.fixture.ts';

const BOUND_MS = 10_000;
/** A fatal alert, illegal_parameter: OpenSSL sends it before it reads a message that is too large. */
const REFUSAL = '1503030002022f';
/** Certificates that fit in 16 KiB. */
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

function certificateFiles(): { certificateFile: string; key: Buffer; certificate: Buffer } & Disposable {
  const directory = mkdtempDisposableSync(join(tmpdir(), 'pw-slow-chain-'));
  const [key, certificate] = [join(directory.path, 'key.pem'), join(directory.path, 'certificate.pem')];
  const options = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost'];
  execFileSync('openssl', ['req', ...options, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  return {
    certificateFile: certificate,
    key: readFileSync(key),
    certificate: readFileSync(certificate),
    [Symbol.dispose]: () => directory.remove(),
  };
}

test('servers refuse a large chain of a client before they verify a signature', async (t) => {
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

/** Returns the least CPU time, in ms, of some handshakes with a server. */
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
