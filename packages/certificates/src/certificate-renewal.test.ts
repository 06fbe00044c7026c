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
import { CertificateStore, type KeptPair } from './certificate-store.ts';
import { FakeSigning } from './cluster-signer.fixture.ts';
import { isDue, renewalMs } from './renewal-time.ts';

const HOUR_MS = 3_600_000;

type Place = {
  signing: FakeSigning;
  store: CertificateStore;
  taken: KeptPair[];
  /** Whether the client of each request was that of a valid certificate. */
  asked: boolean[];
  start: (parts?: Partial<CertificateRenewalParts>) => Promise<CertificateRenewal>;
};

function place(t: TestContext): Place {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-renewal-'));
  const signing = new FakeSigning();
  const store = new CertificateStore(directory, 'kubelet-client');
  const [taken, asked, started]: [KeptPair[], boolean[], CertificateRenewal[]] = [[], [], []];
  t.after(async () => {
    await Promise.all(started.map((renewal) => renewal.stop()));
    await rm(directory, { recursive: true, force: true });
  });
  const start: Place['start'] = async (parts) => {
    const renewal = new CertificateRenewal({
      store,
      signer: 'kubernetes.io/kube-apiserver-client-kubelet',
      subject: () => nodeSubject('a'),
      client: (hasValid) => {
        asked.push(hasValid);
        return signing.client;
      },
      onRenewed: (pair) => void taken.push(pair),
      logger: silentLogger,
      ...parts,
    });
    started.push(renewal);
    await renewal.start();
    return renewal;
  };
  return { signing, store, taken, asked, start };
}

async function soon<T>(probe: () => T | undefined): Promise<T> {
  using deadline = withTimeout(undefined, 60_000, 'wait for the renewal');
  return await waitFor(probe, { intervalMs: 5, signal: deadline });
}

const requests = ({ signing }: Place, count: number) =>
  soon(() => (signing.requests.size >= count ? [...signing.requests.keys()] : undefined));

test('a first certificate is asked for as upstream asks, and kept', async (t) => {
  const here = place(t);
  const renewal = await here.start();
  const [name] = await requests(here, 1);
  const { request: _, ...spec } = here.signing.requests.get(name!)!.spec;
  assert.deepEqual(spec, {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  });
  assert.match(name!, /^csr-/);
  assert.equal(renewal.current(), undefined);
  here.signing.issue(name!);
  await soon(() => here.taken[0]);
  assert.equal(renewal.current()?.commonName, 'system:node:a');
  assert.throws(() => statSync(here.store.pendingPath), { code: 'ENOENT' });
});

test('a kubelet that is started anew waits for the request that is there, with its key', async (t) => {
  const here = place(t);
  const first = await here.start();
  const [name] = await requests(here, 1);
  await soon(() => (readFileSync(here.store.pendingPath, 'utf8').includes(name!) ? true : undefined));
  assert.equal(statSync(here.store.pendingPath).mode & 0o777, 0o600);
  await first.stop();
  const second = await here.start();
  here.signing.issue(name!);
  await soon(() => here.taken[0]);
  assert.equal(second.current()?.commonName, 'system:node:a');
  assert.equal(here.signing.requests.size, 1);
});

test('a key whose request the API server no longer has is asked for again', async (t) => {
  const here = place(t);
  await (await here.start()).stop();
  const before = readFileSync(here.store.pendingPath, 'utf8');
  here.signing.requests.clear();
  await here.start();
  const [name] = await requests(here, 1);
  here.signing.issue(name!);
  const kept = await soon(() => here.taken[0]);
  assert.ok(kept.key.includes(before.slice(before.indexOf('\n') + 1).trim()));
});

test('a certificate whose time has come is replaced by its own means', async (t) => {
  const here = place(t);
  const now = Date.now();
  await here.start();
  here.signing.issue((await requests(here, 1))[0]!, { fromMs: now - 95 * HOUR_MS, toMs: now + 5 * HOUR_MS });
  await soon(() => here.taken[0]);
  here.signing.issue((await requests(here, 2))[1]!);
  await soon(() => here.taken[1]);
  assert.deepEqual(here.asked, [false, true]);
});

test('certificates that are due as soon as they are there are not asked for without a pause', async (t) => {
  const here = place(t);
  const now = Date.now();
  await here.start();
  for (const index of [0, 1]) {
    const name = (await requests(here, index + 1))[index]!;
    here.signing.issue(name, { fromMs: now - 95 * HOUR_MS, toMs: now + 5 * HOUR_MS });
  }
  const begunAt = performance.now();
  await requests(here, 3);
  assert.ok(performance.now() - begunAt > 900, `after ${performance.now() - begunAt} ms`);
});

test('a certificate that runs out while its request waits: the same request is waited for by other means', async (t) => {
  const here = place(t);
  const now = Date.now();
  await here.start();
  here.signing.issue((await requests(here, 1))[0]!, { fromMs: now - 95 * HOUR_MS, toMs: now + HOUR_MS });
  const [, second] = await requests(here, 2);
  t.mock.timers.enable({ apis: ['Date'], now: now + 2 * HOUR_MS });
  await soon(() => here.asked[2] === false || undefined);
  here.signing.issue(second!, { toMs: now + 9 * HOUR_MS });
  await soon(() => here.taken[1]);
  assert.deepEqual([here.asked, here.signing.requests.size], [[false, true, false], 2]);
});

test('a refused request is made anew with another key, after a pause', async (t) => {
  const here = place(t);
  let failures = 0;
  const renewal = await here.start({ onFailure: () => failures++ });
  const [first] = await requests(here, 1);
  here.signing.answer(first!, { conditions: [{ type: 'Denied', reason: 'No' }] });
  const problem = await soon(() => renewal.problem());
  assert.match(problem, /^certificate signing request csr-\w+: it is denied: No$/);
  assert.equal(failures, 1);
  const [, second] = await requests(here, 2);
  const [one, two] = [first, second].map((name) => here.signing.requests.get(name!)!.spec.request);
  assert.notEqual(one, two);
  here.signing.issue(second!);
  await soon(() => here.taken[0]);
  assert.equal(renewal.problem(), undefined);
});

test('a certificate that is not what was asked for is not taken', async (t) => {
  const here = place(t);
  const renewal = await here.start();
  const [name] = await requests(here, 1);
  here.signing.issue(name!, { fromMs: Date.now() - 2 * HOUR_MS, toMs: Date.now() - HOUR_MS });
  assert.match(await soon(() => renewal.problem()), /it ran out on .* by this host's clock, which may be wrong/);
  assert.equal(await here.store.current(), undefined);
});

test('a subject that changes while nobody approves is asked for instead', async (t) => {
  const here = place(t);
  let names = ['192.0.2.1'];
  await here.start({ subject: () => nodeSubject('a', names), signer: 'kubernetes.io/kubelet-serving' });
  await requests(here, 1);
  names = ['192.0.2.2'];
  const [, second] = await requests(here, 2);
  here.signing.issue(second!);
  assert.ok((await soon(() => here.taken[0])).isFor('192.0.2.2'));
});

test('a certificate that ran out is said in words, and keys and tokens are not', async (t) => {
  const here = place(t);
  const lines: string[] = [];
  const write = (fields: object, message: string) => void lines.push(JSON.stringify({ ...fields, message }));
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const life = { fromMs: Date.now() - 2 * HOUR_MS, toMs: Date.now() - HOUR_MS };
  const certificate = here.signing.authority.sign(certificateRequest(nodeSubject('a'), privateKey), life);
  await here.store.update({ certificate, key: privateKey.export({ type: 'sec1', format: 'pem' }) as string });
  const renewal = await here.start({
    logger,
    client: (hasValid) => {
      here.asked.push(hasValid);
      throw new PodwrightError('unavailable', 'connect to the API server: refused');
    },
  });
  const words = await soon(() => renewal.problem());
  assert.match(words, /^connect to the API server: refused; the one that is there ran out on \d{4}-/);
  assert.equal(renewal.current(), undefined);
  assert.deepEqual(here.asked, [false]);
  assert.ok(!lines.join('\n').includes('PRIVATE KEY'));
});

test('who asks by a token that ran out is told that it may have', async (t) => {
  const here = place(t);
  here.signing.failNext = new ApiStatusError('create', { code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
  const renewal = await here.start();
  const words = await soon(() => renewal.problem());
  assert.match(words, /Unauthorized: the API server does not know who asks: the bootstrap token has expired/);
});

test('times of renewal', () => {
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
