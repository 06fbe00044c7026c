/**
 * A kubelet's identity in its cluster, and how it authenticates its callers, with Podwright's API server or a real one
 * (cluster.fixture.ts).
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { Registry, silentLogger, waitFor, withTimeout } from '@podwright/base';
import { type CertificatePair, openNodeIdentity, startServingCertificate } from '@podwright/certificates';
import { isApiStatus, type KubeClient, NODES, readKubeconfig } from '@podwright/kube-client';
import { kubeletOptions } from '@podwright/kubelet';
import { kubeletServerOptions } from '@podwright/kubelet-configuration';
import { serveKubeletApi } from '@podwright/kubelet-server';
import { readCertificateRequest } from '../../packages/api-server/src/certificates/certificate-request.ts';
import { signRequest } from '../../packages/api-server/src/certificates/signers.ts';
import { startFakeKubelet } from '../../packages/kubelet/src/fake-kubelet.fixture.ts';
import { freePort } from '../pods/node.fixture.ts';
import { type Cluster, startCluster } from './cluster.fixture.ts';
import type { OwnControlPlane } from './own-control-plane.fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'pwidentity-'));
let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(async () => {
  await cluster[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

async function soon<T>(probe: () => Promise<T | undefined> | T | undefined): Promise<T> {
  using signal = withTimeout(undefined, 60_000, `wait for ${probe}`);
  return await waitFor(probe, { intervalMs: 50, signal });
}

type Csr = {
  metadata: { name: string };
  spec: { signerName: string; username?: string; usages: string[]; request: string };
  status?: { certificate?: string };
};

async function requestsOf(signer: string, username: RegExp): Promise<Csr[]> {
  const { body } = await cluster.admin.get('/apis/certificates.k8s.io/v1/certificatesigningrequests');
  return (body.items as Csr[]).filter(
    ({ spec }) => spec.signerName === `kubernetes.io/${signer}` && username.test(spec.username ?? ''),
  );
}

/** Approves a CSR unless a controller already has. */
async function approve({ metadata: { name } }: Csr): Promise<void> {
  const path = `/apis/certificates.k8s.io/v1/certificatesigningrequests/${name}`;
  const { body } = await cluster.admin.get(path);
  if (body.status.conditions !== undefined) return;
  const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' };
  const { status, text } = await cluster.admin.update(`${path}/approval`, {
    ...body,
    status: { conditions: [condition] },
  });
  assert.equal(status, 200, text);
}

/** Helpers for one node's identity, which has its own files. */
function place(t: TestContext, nodeName: string) {
  const path = (name: string) => join(directory, `${nodeName}-${name}`);
  const write = (name: string, text: string) => {
    writeFileSync(path(name), text, { mode: 0o600 });
    return path(name);
  };
  const open = async (given: { kubeconfig?: string; bootstrapKubeconfig?: string; rotate?: boolean }) => {
    const identity = await openNodeIdentity({
      nodeName,
      kubeconfig: path('kubelet.conf'),
      certDirectory: path('pki'),
      rotate: true,
      logger: silentLogger,
      ...given,
    });
    t.after(() => identity.close());
    return identity;
  };
  return { path, write, open };
}

/** Whether the API server authenticates the client as this node, which allows it to read the node's own Node object. */
async function isNode(client: KubeClient, name: string): Promise<true | undefined> {
  try {
    await client.get(NODES, { name });
    return true;
  } catch (error) {
    return isApiStatus(error, 404) || undefined;
  }
}

test('a node requests its first certificate with a bootstrap token, and then authenticates as itself', async (t) => {
  const { path, write, open } = place(t, 'first');
  const bootstrapKubeconfig = write('bootstrap.conf', cluster.kubeconfig(await cluster.bootstrapToken()));
  const identity = await open({ bootstrapKubeconfig });
  const client = identity.connect();
  await assert.rejects(client.get(NODES, { name: 'first' }), {
    code: 'unavailable',
    message: /there is no client certificate for the API server/,
  });
  await soon(() => isNode(client, 'first'));
  const [csr] = await requestsOf('kube-apiserver-client-kubelet', /^system:bootstrap:/);
  assert.deepEqual(csr?.spec.usages, ['digital signature', 'client auth']);
  const written = await soon(() => readKubeconfig(path('kubelet.conf')).catch(() => undefined));
  assert.equal(written.server, cluster.url);
  for (const name of ['kubelet.conf', 'pki/kubelet-client-current.pem'])
    assert.equal(statSync(path(name)).mode & 0o777, 0o600, name);
  assert.ok(!readFileSync(path('kubelet.conf'), 'utf8').includes('token'));
  // a kubelet that has a certificate restarts without the bootstrap token
  write('bootstrap.conf', 'nonsense');
  const again = await open({ bootstrapKubeconfig });
  assert.ok(await isNode(again.connect(), 'first'));
});

test('a node replaces another user’s certificate with its own', async (t) => {
  const { path, write, open } = place(t, 'mine');
  const kubeconfig = write('kubelet.conf', cluster.kubeconfig(cluster.certificate('admin', ['system:masters'])));
  const identity = await open({ kubeconfig });
  const client = identity.connect();
  const request = await soon(async () => (await requestsOf('kube-apiserver-client-kubelet', /^admin$/))[0]);
  await approve(request);
  await soon(async () => {
    const answer = await client.get(NODES, { name: 'another' }).catch((error: unknown) => error);
    return isApiStatus(answer, 403) || undefined; // a node may only read itself
  });
  assert.match(readFileSync(path('pki/kubelet-client-current.pem'), 'utf8'), /PRIVATE KEY/);
});

test('callers of the kubelet are authenticated by certificates and tokens, and authorized by the cluster', async (t) => {
  const nodeName = 'served';
  const { path, write, open } = place(t, nodeName);
  const identity = await open({
    rotate: false,
    kubeconfig: write('kubelet.conf', cluster.kubeconfig(cluster.nodeCredential(nodeName))),
  });
  const client = identity.connect();
  const port = await freePort();
  const reviews = { tokens: { keptMs: 120_000 }, access: { allowedMs: 300_000, deniedMs: 30_000 } };
  const registry = new Registry();
  const fake = await startFakeKubelet({
    nodeName,
    metrics: registry,
    server: kubeletServerOptions({
      address: '127.0.0.1',
      port,
      healthzPort: 0,
      authentication: { anonymous: false, clientCaFile: write('ca.crt', cluster.certificateAuthority), reviews },
    }),
  });
  t.after(() => fake.close());
  const serving = await startServingCertificate({
    ...{ nodeName, client, logger: silentLogger, certDirectory: path('pki'), names: () => [nodeName, '127.0.0.1'] },
  });
  t.after(() => serving.stop());
  const api = await serveKubeletApi({
    kubelet: fake.handle,
    registry,
    logger: silentLogger,
    reviewer: client,
    signedCertificate: serving.current,
  });
  t.after(() => api.close());
  const csr = await soon(async () => (await requestsOf('kubelet-serving', /^system:node:served$/))[0]);
  assert.deepEqual(csr.spec.usages, ['digital signature', 'server auth']);
  await approve(csr);
  const signed: CertificatePair = await soon(() => serving.current());
  assert.match(signed.certificate, /BEGIN CERTIFICATE/);

  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  await soon(async () => ((await cluster.admin.get(account)).status === 200 ? true : undefined));
  const { body } = await cluster.admin.create(`${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 600 },
  });
  const ask = async (credential: { certificate?: string; key?: string; token?: string }) => {
    const { request } = await import('node:https');
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const outgoing = request({
      ...{ host: '127.0.0.1', port, path: '/pods', agent: false, ca: cluster.certificateAuthority },
      ...{ cert: credential.certificate, key: credential.key },
      headers: credential.token === undefined ? {} : { authorization: `Bearer ${credential.token}` },
    });
    outgoing.on('error', reject).on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(`${response.statusCode} ${text.slice(0, 120)}`);
    });
    outgoing.end();
    return promise;
  };
  // the serving certificate is signed by the cluster, so verify it against the cluster's CA and the address
  const pods = await soon(() => ask(cluster.certificate('admin', ['system:masters']) as never).catch(() => undefined));
  assert.match(pods, /^200 \{"kind":"PodList"/);
  assert.match(await ask({}), /^401 /);
  assert.match(await ask({ token: 'unknown' }), /^401 /);
  assert.equal(
    await ask({ token: body.status.token }),
    '403 Forbidden (user=system:serviceaccount:default:default, verb=get, resource=nodes, subresource(s)=[pods proxy])\n',
  );
});

test('the serving certificate covers the addresses in the Node object, and a new one is requested when they change', async (t) => {
  const nodeName = 'moved';
  const { path, write, open } = place(t, nodeName);
  const kubeconfig = write('kubelet.conf', cluster.kubeconfig(cluster.nodeCredential(nodeName)));
  const client = (await open({ rotate: false, kubeconfig })).connect();
  const { node } = kubeletOptions({ manifestDir: '', runtimeEndpoint: '', nodeName, logger: silentLogger });
  const fake = await startFakeKubelet({
    ...{ nodeName, nodeIp: '', node: { ...node, externalCloudProvider: true } },
    cluster: { client, heartbeatClient: client, eventClient: client },
  });
  t.after(() => fake.close());
  const serving = await startServingCertificate({
    ...{ nodeName, client, logger: silentLogger, certDirectory: path('pki'), names: () => fake.handle.servingNames },
  });
  t.after(() => serving.stop());
  const isThere = async () => (await cluster.admin.get(`/api/v1/nodes/${nodeName}`)).status === 200 || undefined;
  await soon(isThere);
  for (const [index, ip] of ['192.0.2.7', '192.0.2.8'].entries()) {
    const addresses = [
      { type: 'Hostname', address: nodeName },
      { type: 'InternalIP', address: ip },
      { type: 'InternalDNS', address: 'moved.internal' },
    ];
    const { status, text } = await cluster.admin.patch(`/api/v1/nodes/${nodeName}/status`, 'merge', {
      status: { addresses },
    });
    assert.equal(status, 200, text);
    const request = async () => (await requestsOf('kubelet-serving', /^system:node:moved$/)).length === index + 1;
    await soon(async () => (await request()) || undefined);
    for (const csr of await requestsOf('kubelet-serving', /^system:node:moved$/)) await approve(csr);
    const names = () => new X509Certificate(serving.current()!.certificate).subjectAltName?.split(', ').sort().join();
    const wanted = `DNS:moved,DNS:moved.internal,IP Address:${ip}`;
    await soon(() => (serving.current() !== undefined && names() === wanted) || undefined);
  }
});

/** Returns the CSR with a certificate that expires in 30 s. */
function shortLived(own: OwnControlPlane, csr: Csr): Csr {
  const request = readCertificateRequest(csr.spec.request);
  assert.ok(request !== undefined);
  const signed = { request, usages: csr.spec.usages };
  const certificate = signRequest(own.authority, signed, { nowMs: Date.now() - 570_000, expirationSeconds: 600 });
  return { ...csr, status: { ...csr.status, certificate: Buffer.from(certificate).toString('base64') } };
}

test('a node repeatedly renews a short-lived certificate', async (t) => {
  const { own } = cluster;
  if (own === undefined) return; // a real control plane's certificate lifetime cannot be changed
  const { write, open } = place(t, 'renewed');
  const by = (object: Csr) => (object.status?.certificate === undefined ? object : shortLived(own, object));
  const short = own.faults.add({ kind: 'replace-objects', by }, { resource: 'certificatesigningrequests' });
  const bootstrapKubeconfig = write('bootstrap.conf', cluster.kubeconfig(await cluster.bootstrapToken()));
  const identity = await open({ bootstrapKubeconfig });
  const client = identity.connect();
  await soon(async () => (await requestsOf('kube-apiserver-client-kubelet', /^system:node:renewed$/))[1]);
  short.remove();
  assert.ok(await soon(() => isNode(client, 'renewed')));
});
