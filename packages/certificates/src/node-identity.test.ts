import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Logger, silentLogger, waitFor, withTimeout } from '@podwright/base';
import { type ClusterAccess, type KubeClient, readKubeconfig } from '@podwright/kube-client';
import { certificateRequest, nodeSubject } from './certificate-request.ts';
import { CertificateStore } from './certificate-store.ts';
import { FakeSigning } from './cluster-signer.fixture.ts';
import { openNodeIdentity } from './node-identity.ts';
import { kubeconfigText } from './node-kubeconfig.ts';

type TestNode = {
  signing: FakeSigning;
  /** The cluster access options that each client was created with. */
  accesses: ClusterAccess[];
  path: (name: string) => string;
  open: (given?: {
    bootstrap?: boolean;
    rotate?: boolean;
    logger?: Logger;
  }) => Promise<Awaited<ReturnType<typeof openNodeIdentity>>>;
};

function testNode(t: TestContext): TestNode {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-identity-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = (name: string) => join(directory, name);
  const signing = new FakeSigning();
  const accesses: ClusterAccess[] = [];
  const connect = (access: ClusterAccess): KubeClient => {
    accesses.push(access);
    return Object.assign({}, signing.client, { reconnect: () => undefined, close: () => undefined });
  };
  const user = { token: 'abcdef.0123456789abcdef' };
  writeFileSync(path('bootstrap'), kubeconfigText({ server: 'https://api:6443', tls: {}, user }), { mode: 0o600 });
  const open: TestNode['open'] = async ({ bootstrap = true, rotate = true, logger = silentLogger } = {}) => {
    const identity = await openNodeIdentity(
      {
        nodeName: 'a',
        kubeconfig: path('kubelet.conf'),
        bootstrapKubeconfig: bootstrap ? path('bootstrap') : undefined,
        certDirectory: path('pki'),
        rotate,
        logger,
      },
      connect,
    );
    t.after(() => identity.close());
    return identity;
  };
  return { signing, accesses, path, open };
}

async function soon<T>(probe: () => T | undefined): Promise<T> {
  using signal = withTimeout(undefined, 60_000, `wait for ${probe}`);
  return await waitFor(probe, { intervalMs: 5, signal });
}

const tlsOf = async (access: ClusterAccess | undefined) =>
  typeof access?.tls === 'function' ? await access.tls() : access?.tls;
const headerOf = ({ authorization }: ClusterAccess) => authorization?.header(new AbortController().signal);

test('before the first certificate, only the requesting client has the bootstrap token', async (t) => {
  const { signing, accesses, path, open } = testNode(t);
  const identity = await open();
  identity.connect();
  const [asking, renewing, client] = accesses;
  assert.equal(await headerOf(asking!), 'Bearer abcdef.0123456789abcdef');
  for (const access of [renewing!, client!]) {
    await assert.rejects(tlsOf(access), { code: 'unavailable' });
    assert.equal(await headerOf(access), undefined);
  }
  signing.issue(await soon(() => [...signing.requests.keys()][0]));
  await soon(() => (existsSync(path('kubelet.conf')) ? true : undefined));
  assert.match(String((await tlsOf(client))?.certificate), /BEGIN CERTIFICATE/);
  const written = readFileSync(path('kubelet.conf'), 'utf8');
  assert.equal(statSync(path('kubelet.conf')).mode & 0o777, 0o600);
  assert.ok(!written.includes('0123456789abcdef') && written.includes(path('pki/kubelet-client-current.pem')));
  assert.equal((await readKubeconfig(path('kubelet.conf'))).server, 'https://api:6443');
});

test('a kubelet killed before writing the kubeconfig writes it on restart, without a new request', async (t) => {
  const { signing, path, open } = testNode(t);
  const first = await open();
  signing.issue(await soon(() => [...signing.requests.keys()][0]));
  await soon(() => (existsSync(path('kubelet.conf')) ? true : undefined));
  await first.close();
  rmSync(path('kubelet.conf'));
  const again = await open();
  assert.ok(existsSync(path('kubelet.conf')));
  await again.close();
  rmSync(path('bootstrap'));
  await open({ bootstrap: false });
  assert.equal(signing.requests.size, 1);
});

test('after a running kubelet’s certificate expires, the current bootstrap kubeconfig is used for a new request', async (t) => {
  const { signing, accesses, path, open } = testNode(t);
  const minute = 60_000;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const life = { fromMs: Date.now() - 99 * minute, toMs: Date.now() + minute };
  await new CertificateStore(path('pki'), 'kubelet-client').update({
    certificate: signing.authority.sign(certificateRequest(nodeSubject('a'), privateKey), life),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  });
  const current = path('pki/kubelet-client-current.pem');
  const user = { 'client-certificate': current, 'client-key': current };
  writeFileSync(path('kubelet.conf'), kubeconfigText({ server: 'https://api:6443', tls: {}, user }), { mode: 0o600 });
  await open();
  const byCertificate = await soon(() => [...signing.requests.keys()][0]); // the renewal is due
  const token = 'fedcba.fedcba9876543210';
  writeFileSync(path('bootstrap'), kubeconfigText({ server: 'https://api:6443', tls: {}, user: { token } }));
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 5 * minute });
  const denied = { type: 'Denied', status: 'True', reason: 'Test', message: 'no' };
  signing.answer(byCertificate, { conditions: [denied] });
  const byToken = await soon(() => [...signing.requests.keys()][1]);
  assert.equal(await headerOf(accesses.at(-1)!), `Bearer ${token}`);
  signing.issue(byToken);
  await soon(() => (new X509Certificate(readFileSync(current)).validToDate.getTime() > Date.now() ? true : undefined));
});

test('a kubelet without its bootstrap kubeconfig logs once that it must be restarted', async (t) => {
  const { signing, path, open } = testNode(t);
  const logged: string[] = [];
  const error = (fields: object, message: string) => void logged.push(`${message}: ${Object.values(fields)[0]}`);
  const denied = { type: 'Denied', status: 'True', reason: 'Test', message: 'no' };
  await open({ logger: { ...silentLogger, error } });
  const requests = () => [...signing.requests.keys()];
  await soon(() => requests()[0]);
  rmSync(path('bootstrap'));
  for (const index of [0, 1]) signing.answer(await soon(() => requests()[index]), { conditions: [denied] });
  await soon(() => requests()[2]);
  const advice = logged.filter((message) => message.includes('bootstrapKubeconfig'));
  assert.equal(advice.length, 1);
  assert.match(advice[0]!, /with other credentials, and restart the kubelet: .*bootstrap.*no such file/);
});

test('without rotation, the kubeconfig is used unchanged', async (t) => {
  const { signing, accesses, path, open } = testNode(t);
  writeFileSync(path('kubelet.conf'), readFileSync(path('bootstrap')), { mode: 0o600 });
  const identity = await open({ bootstrap: false, rotate: false });
  identity.connect();
  assert.equal(await headerOf(accesses[0]!), 'Bearer abcdef.0123456789abcdef');
  assert.equal(signing.requests.size, 0);
});

test('an unusable kubeconfig is replaced by the bootstrap one, or is an error if there is none', async (t) => {
  const { accesses, path, open } = testNode(t);
  writeFileSync(path('kubelet.conf'), 'nonsense', { mode: 0o600 });
  await open();
  assert.equal(await headerOf(accesses[0]!), 'Bearer abcdef.0123456789abcdef');
  await assert.rejects(open({ bootstrap: false }), { code: 'invalid_argument' });
});
