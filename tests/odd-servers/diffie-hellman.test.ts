/**
 * Clients of untrusted TLS servers do not offer finite-field Diffie-Hellman, because the server chooses how expensive it is. Add new
 * clients to `clients`.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createServer, type Server } from 'node:tls';
import { fetchManifest } from '../../packages/cli/src/manifests/manifest-url.ts';
import { HttpClient } from '../../packages/images/src/registry/http-client.ts';
import { Prober } from '../../packages/kubelet/src/prober/prober.ts';

const BOUND_MS = 10_000;
const commands = { runInContainer: () => Promise.reject(new Error('not called')) };
let server: Server;
let port = 0;

before(async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'pw-dhe-'));
  const [key, cert] = [join(directory.path, 'key.pem'), join(directory.path, 'cert.pem')];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-keyout',
    key,
    '-out',
    cert,
  ];
  execFileSync('openssl', request, { stdio: 'ignore' });
  server = createServer({
    key: readFileSync(key),
    cert: readFileSync(cert),
    dhparam: 'auto',
    ciphers: 'DHE-RSA-AES128-GCM-SHA256',
    maxVersion: 'TLSv1.2',
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
after(() => server.close());

async function registry(): Promise<void> {
  const http = new HttpClient({ stallTimeoutMs: BOUND_MS, documentTimeoutMs: BOUND_MS, environment: {} });
  const tls = { ca: [], clientCertificates: [], skipVerify: true };
  try {
    const request = { method: 'GET' as const, url: `https://127.0.0.1:${port}/`, headers: {}, tls };
    await http.send({ ...request, signal: AbortSignal.timeout(BOUND_MS) });
  } finally {
    http.close();
  }
}

async function probe(): Promise<void> {
  const container = { name: 'c', image: 'i' };
  const httpGet = { port, scheme: 'HTTPS' as const };
  const target = { probe: { timeoutSeconds: 10, httpGet }, container, containerId: 'id', podIps: ['127.0.0.1'] };
  await new Prober(commands).probe(target, AbortSignal.timeout(BOUND_MS));
}

const clients: Record<string, () => Promise<unknown>> = {
  'a probe': probe,
  'a registry': registry,
  'a manifest URL': () => fetchManifest(`https://127.0.0.1:${port}/`),
};

for (const [client, call] of Object.entries(clients))
  test(`${client} shares no cipher with a server that has finite-field Diffie-Hellman only`, async () => {
    const refused = once(server, 'tlsClientError');
    const handshake = once(server, 'secureConnection').then(() => assert.fail('the handshake was completed'));
    handshake.catch(() => undefined);
    await call().catch(() => undefined);
    const [error] = (await Promise.race([refused, handshake])) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ERR_SSL_NO_SHARED_CIPHER');
  });
