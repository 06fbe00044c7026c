import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { type ClusterAccess, type KubeClient, readKubeconfig } from '@podwright/kube-client';
import { FakeSigning } from './cluster-signer.fixture.ts';
import { openNodeIdentity } from './node-identity.ts';
import { kubeconfigText } from './node-kubeconfig.ts';

type Place = {
  signing: FakeSigning;
  /** How each client that was made reaches the API server. */
  accesses: ClusterAccess[];
  path: (name: string) => string;
  open: (given?: { bootstrap?: boolean; rotate?: boolean }) => Promise<Awaited<ReturnType<typeof openNodeIdentity>>>;
};

function place(t: TestContext): Place {
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
  const open: Place['open'] = async ({ bootstrap = true, rotate = true } = {}) => {
    const identity = await openNodeIdentity(
      {
        nodeName: 'a',
        kubeconfig: path('kubelet.conf'),
        bootstrapKubeconfig: bootstrap ? path('bootstrap') : undefined,
        certDirectory: path('pki'),
        rotate,
        logger: silentLogger,
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

test('until there is a certificate only who asks for it has the bootstrap token', async (t) => {
  const { signing, accesses, path, open } = place(t);
  const identity = await open();
  identity.connect();
  const [asking, renewing, client] = accesses;
  assert.equal(await headerOf(asking!), 'Bearer abcdef.0123456789abcdef');
  for (const access of [renewing!, client!]) {
    await assert.rejects(tlsOf(access), { code: 'unavailable' });
    assert.equal(await headerOf(access), undefined);
  }
  assert.equal(identity.isKnown, false);
  signing.issue(await soon(() => [...signing.requests.keys()][0]));
  await soon(() => (existsSync(path('kubelet.conf')) ? true : undefined));
  assert.match(String((await tlsOf(client))?.certificate), /BEGIN CERTIFICATE/);
  const written = readFileSync(path('kubelet.conf'), 'utf8');
  assert.equal(statSync(path('kubelet.conf')).mode & 0o777, 0o600);
  assert.ok(!written.includes('0123456789abcdef') && written.includes(path('pki/kubelet-client-current.pem')));
  assert.equal((await readKubeconfig(path('kubelet.conf'))).server, 'https://api:6443');
});

test('a kubelet that was ended before it wrote the kubeconfig writes it, and asks for nothing', async (t) => {
  const { signing, path, open } = place(t);
  const first = await open();
  signing.issue(await soon(() => [...signing.requests.keys()][0]));
  await soon(() => (existsSync(path('kubelet.conf')) ? true : undefined));
  await first.close();
  rmSync(path('kubelet.conf'));
  const again = await open();
  assert.ok(again.isKnown && existsSync(path('kubelet.conf')));
  await again.close();
  rmSync(path('bootstrap'));
  assert.ok((await open({ bootstrap: false })).isKnown);
  assert.equal(signing.requests.size, 1);
});

test('without rotation a kubeconfig is taken as it is', async (t) => {
  const { signing, accesses, path, open } = place(t);
  writeFileSync(path('kubelet.conf'), readFileSync(path('bootstrap')), { mode: 0o600 });
  const identity = await open({ bootstrap: false, rotate: false });
  identity.connect();
  assert.equal(await headerOf(accesses[0]!), 'Bearer abcdef.0123456789abcdef');
  assert.equal(signing.requests.size, 0);
});

test('a kubeconfig that cannot be used gives way to the bootstrap one, and without that is an error', async (t) => {
  const { accesses, path, open } = place(t);
  writeFileSync(path('kubelet.conf'), 'nonsense', { mode: 0o600 });
  await open();
  assert.equal(await headerOf(accesses[0]!), 'Bearer abcdef.0123456789abcdef');
  await assert.rejects(open({ bootstrap: false }), { code: 'invalid_argument' });
});
