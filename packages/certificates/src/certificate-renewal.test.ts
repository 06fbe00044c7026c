import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Logger, PodwrightError, silentLogger, waitFor, withTimeout } from '@podwright/base';
import { ApiStatusError } from '@podwright/kube-client';
import { CertificateRenewal, type CertificateRenewalParts } from './certificate-renewal.ts';
import { certificateRequest, nodeSubject } from './certificate-request.ts';
import { CertificateStore, type StoredPair } from './certificate-store.ts';
import { FakeSigning } from './cluster-signer.fixture.ts';
import { isDue, renewalMs } from './renewal-time.ts';

const HOUR_MS = 3_600_000;

type TestNode = {
  signing: FakeSigning;
  store: CertificateStore;
  renewed: StoredPair[];
  /** For each certificate request, whether the client that created it had a valid certificate at the time. */
  hadCertificate: boolean[];
  start: (parts?: Partial<CertificateRenewalParts>) => Promise<CertificateRenewal>;
};

function testNode(t: TestContext): TestNode {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-renewal-'));
  const signing = new FakeSigning();
  const store = new CertificateStore(directory, 'kubelet-client');
  const [renewed, hadCertificate, started]: [StoredPair[], boolean[], CertificateRenewal[]] = [[], [], []];
  t.after(async () => {
    await Promise.all(started.map((renewal) => renewal.stop()));
    await rm(directory, { recursive: true, force: true });
  });
  const start: TestNode['start'] = async (parts) => {
    const renewal = new CertificateRenewal({
      store,
      signer: 'kubernetes.io/kube-apiserver-client-kubelet',
      subject: () => nodeSubject('a'),
      client: (hasValid) => {
        hadCertificate.push(hasValid);
        return signing.client;
      },
      onRenewed: (pair) => void renewed.push(pair),
      logger: silentLogger,
      ...parts,
    });
    started.push(renewal);
    await renewal.start();
    return renewal;
  };
  return { signing, store, renewed, hadCertificate, start };
}

async function soon<T>(probe: () => T | undefined): Promise<T> {
  using deadline = withTimeout(undefined, 60_000, 'wait for the renewal');
  return await waitFor(probe, { intervalMs: 5, signal: deadline });
}

const requests = ({ signing }: TestNode, count: number) =>
  soon(() => (signing.requests.size >= count ? [...signing.requests.keys()] : undefined));

test('a first certificate is requested with the same fields as upstream, and stored', async (t) => {
  const node = testNode(t);
  const renewal = await node.start();
  const [name] = await requests(node, 1);
  const { request: _, ...spec } = node.signing.requests.get(name!)!.spec;
  assert.deepEqual(spec, {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  });
  assert.match(name!, /^csr-/);
  assert.equal(renewal.current(), undefined);
  node.signing.issue(name!);
  await soon(() => node.renewed[0]);
  assert.equal(renewal.current()?.commonName, 'system:node:a');
  assert.throws(() => statSync(node.store.pendingPath), { code: 'ENOENT' });
});

test('a restarted kubelet waits for the existing request, with its key', async (t) => {
  const node = testNode(t);
  const first = await node.start();
  const [name] = await requests(node, 1);
  await soon(() => (readFileSync(node.store.pendingPath, 'utf8').includes(name!) ? true : undefined));
  assert.equal(statSync(node.store.pendingPath).mode & 0o777, 0o600);
  await first.stop();
  const second = await node.start();
  node.signing.issue(name!);
  await soon(() => node.renewed[0]);
  assert.equal(second.current()?.commonName, 'system:node:a');
  assert.equal(node.signing.requests.size, 1);
});

test('a stored key is used for a new request if the API server no longer has its request', async (t) => {
  const node = testNode(t);
  await (await node.start()).stop();
  const before = readFileSync(node.store.pendingPath, 'utf8');
  node.signing.requests.clear();
  await node.start();
  const [name] = await requests(node, 1);
  node.signing.issue(name!);
  const kept = await soon(() => node.renewed[0]);
  assert.ok(kept.key.includes(before.slice(before.indexOf('\n') + 1).trim()));
});

test('a certificate due for renewal is renewed with its own credentials', async (t) => {
  const node = testNode(t);
  const now = Date.now();
  await node.start();
  node.signing.issue((await requests(node, 1))[0]!, { fromMs: now - 95 * HOUR_MS, toMs: now + 5 * HOUR_MS });
  await soon(() => node.renewed[0]);
  node.signing.issue((await requests(node, 2))[1]!);
  await soon(() => node.renewed[1]);
  assert.deepEqual(node.hadCertificate, [false, true]);
});

test('certificates that are immediately due again are requested only after a pause', async (t) => {
  const node = testNode(t);
  const now = Date.now();
  await node.start();
  for (const index of [0, 1]) {
    const name = (await requests(node, index + 1))[index]!;
    node.signing.issue(name, { fromMs: now - 95 * HOUR_MS, toMs: now + 5 * HOUR_MS });
  }
  const begunAt = performance.now();
  await requests(node, 3);
  assert.ok(performance.now() - begunAt > 900, `after ${performance.now() - begunAt} ms`);
});

test('if a certificate expires while its renewal is pending, the same request is awaited with other credentials', async (t) => {
  const node = testNode(t);
  const now = Date.now();
  await node.start();
  node.signing.issue((await requests(node, 1))[0]!, { fromMs: now - 95 * HOUR_MS, toMs: now + HOUR_MS });
  const [, second] = await requests(node, 2);
  t.mock.timers.enable({ apis: ['Date'], now: now + 2 * HOUR_MS });
  await soon(() => node.hadCertificate[2] === false || undefined);
  node.signing.issue(second!, { toMs: now + 9 * HOUR_MS });
  await soon(() => node.renewed[1]);
  assert.deepEqual([node.hadCertificate, node.signing.requests.size], [[false, true, false], 2]);
});

test('after a denial, a new request is created with a new key, after a pause', async (t) => {
  const node = testNode(t);
  let failures = 0;
  const renewal = await node.start({ onFailure: () => failures++ });
  const [first] = await requests(node, 1);
  node.signing.answer(first!, { conditions: [{ type: 'Denied', reason: 'No' }] });
  const problem = await soon(() => renewal.problem());
  assert.match(problem, /^certificate signing request csr-\w+: it is denied: No$/);
  assert.equal(failures, 1);
  const [, second] = await requests(node, 2);
  const [one, two] = [first, second].map((name) => node.signing.requests.get(name!)!.spec.request);
  assert.notEqual(one, two);
  node.signing.issue(second!);
  await soon(() => node.renewed[0]);
  assert.equal(renewal.problem(), undefined);
});

test('an issued certificate that does not match the request is not stored', async (t) => {
  const node = testNode(t);
  const renewal = await node.start();
  const [name] = await requests(node, 1);
  node.signing.issue(name!, { fromMs: Date.now() - 2 * HOUR_MS, toMs: Date.now() - HOUR_MS });
  assert.match(await soon(() => renewal.problem()), /it ran out on .* by this host's clock, which may be wrong/);
  assert.equal(await node.store.current(), undefined);
});

test('a changed subject replaces the unapproved request', async (t) => {
  const node = testNode(t);
  let names = ['192.0.2.1'];
  await node.start({ subject: () => nodeSubject('a', names), signer: 'kubernetes.io/kubelet-serving' });
  await requests(node, 1);
  names = ['192.0.2.2'];
  const [, second] = await requests(node, 2);
  node.signing.issue(second!);
  assert.ok((await soon(() => node.renewed[0])).isFor('192.0.2.2'));
});

test('an expired certificate is logged, but never keys or tokens', async (t) => {
  const node = testNode(t);
  const lines: string[] = [];
  const write = (fields: object, message: string) => void lines.push(JSON.stringify({ ...fields, message }));
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const life = { fromMs: Date.now() - 2 * HOUR_MS, toMs: Date.now() - HOUR_MS };
  const certificate = node.signing.authority.sign(certificateRequest(nodeSubject('a'), privateKey), life);
  await node.store.update({ certificate, key: privateKey.export({ type: 'sec1', format: 'pem' }) as string });
  const renewal = await node.start({
    logger,
    client: (hasValid) => {
      node.hadCertificate.push(hasValid);
      throw new PodwrightError('unavailable', 'connect to the API server: refused');
    },
  });
  const words = await soon(() => renewal.problem());
  assert.match(words, /^connect to the API server: refused; the current one ran out on \d{4}-/);
  assert.equal(renewal.current(), undefined);
  assert.deepEqual(node.hadCertificate, [false]);
  assert.ok(!lines.join('\n').includes('PRIVATE KEY'));
});

test('the error for a rejected token says that it may have expired', async (t) => {
  const node = testNode(t);
  node.signing.failNext = new ApiStatusError('create', { code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
  const renewal = await node.start();
  const words = await soon(() => renewal.problem());
  assert.match(words, /Unauthorized: the API server does not accept the credentials: the bootstrap token has expired/);
});

test('certificates are renewed at 70 to 90 percent of their lifetime', () => {
  const facts = { commonName: 'system:node:a', organizations: ['system:nodes'], isFor: () => true };
  const life = { ...facts, notBeforeMs: 1000, notAfterMs: 2000 };
  for (const [chance, expected] of [
    [0, 1700],
    [0.5, 1800],
    [1, 1900],
  ] as const)
    assert.equal(renewalMs(life, chance), expected);
  const check = (nowMs: number, expected: boolean) =>
    assert.equal(isDue(life, nodeSubject('a'), { renewAtMs: 1700, nowMs }), expected);
  check(1699, false);
  check(1700, true);
  assert.ok(isDue(life, nodeSubject('b'), { renewAtMs: 1700, nowMs: 1 }));
  assert.ok(isDue(undefined, nodeSubject('a'), { renewAtMs: 1700, nowMs: 1 }));
});
