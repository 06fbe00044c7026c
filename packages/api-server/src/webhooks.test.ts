/** Tests of admission webhooks on a complete API server. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { type Answer, type Json, send } from './server/test-client.fixture.ts';
import { type ApiServer, startApiServer } from './start-api-server.ts';
import { patched, TestWebhook } from './test-webhook.fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'api-webhooks-'));
const socketPath = join(directory, 'api.sock');
const auditLog = join(directory, 'audit.log');
let server: ApiServer;
let webhook: TestWebhook;

before(async () => {
  const policy = join(directory, 'policy.yaml');
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Request}]\n');
  server = await startApiServer({
    ...{ directory: join(directory, 'data'), socketPath, logger: silentLogger },
    audit: { path: auditLog, policyPath: policy },
  });
  webhook = await TestWebhook.start(join(directory, 'authority'));
});
after(async () => {
  await server.stop();
  await webhook[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const CONFIG_MAPS = { resources: ['configmaps'] };

function call(method: string, path: string, body?: object, type = 'application/json'): Promise<Answer> {
  const sent = { method, path, headers: { 'content-type': type }, ...(body && { body: JSON.stringify(body) }) };
  return send({ socketPath, port: 0, certificate: '' }, 'the unix socket', sent);
}

type Kind = 'mutating' | 'validating';

async function configure(kind: Kind, webhooks: Json[], name = 'test'): Promise<void> {
  const made = await call('POST', `${GROUP}/${kind}webhookconfigurations`, { metadata: { name }, webhooks });
  assert.equal(made.status, 201, made.text);
}

afterEach(async () => {
  for (const kind of ['mutating', 'validating']) await call('DELETE', `${GROUP}/${kind}webhookconfigurations`);
  await call('DELETE', `${MAPS}?fieldSelector=metadata.name!%3Dkube-root-ca.crt`);
  webhook.requests.length = 0;
  webhook.handle = () => ({ allowed: true });
});

const create = (name: string, data: object = {}, query = '') =>
  call('POST', `${MAPS}${query}`, { metadata: { name }, data });

test('a mutating webhook changes the object, and the result is validated', async () => {
  await configure('mutating', [webhook.config('m', CONFIG_MAPS)]);
  webhook.handle = () => patched({ op: 'add', path: '/data/b', value: '2' });
  const made = await create('a', { a: '1' });
  assert.deepEqual(made.json().data, { a: '1', b: '2' }, made.text);
  const [{ uid, object, userInfo, ...request }] = webhook.requests;
  assert.match(uid, /^[0-9a-f-]{36}$/);
  assert.deepEqual([object.kind, object.apiVersion, object.data], ['ConfigMap', 'v1', { a: '1' }]);
  assert.equal(userInfo.username, 'system:admin');
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  const resource = { group: '', version: 'v1', resource: 'configmaps' };
  assert.deepEqual(request, {
    ...{ path: 'm', kind, resource, requestKind: kind, requestResource: resource, name: 'a', namespace: 'default' },
    ...{ operation: 'CREATE', oldObject: null, dryRun: false },
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  });
  webhook.handle = () => patched({ op: 'add', path: '/data/b', value: 2 });
  const wrong = await create('b');
  assert.equal(wrong.status, 500, wrong.text);
  webhook.handle = () => patched({ op: 'add', path: '/data', value: { 'a b': 'c' } });
  assert.equal((await create('b')).status, 422);
});

test('a webhook cannot change the identity of a stored object', async () => {
  await create('a', { a: '1' });
  const { uid } = (await call('GET', `${MAPS}/a`)).json().metadata;
  await configure('mutating', [webhook.config('m', CONFIG_MAPS)]);
  for (const [path, value] of [
    ['/metadata/name', 'other'],
    ['/metadata/namespace', 'kube-system'],
    ['/metadata/uid', 'other'],
  ]) {
    webhook.handle = () => patched({ op: 'replace', path, value });
    const changed = await call('PATCH', `${MAPS}/a`, { data: { a: '2' } }, 'application/merge-patch+json');
    assert.notEqual(changed.status, 200, `${path}: ${changed.text}`);
  }
  webhook.handle = () => patched({ op: 'add', path: '/metadata/uid', value: 'chosen' });
  assert.notEqual((await create('b')).json().metadata.uid, 'chosen');
  const stored = (await call('GET', `${MAPS}/a`)).json();
  assert.deepEqual([stored.metadata.uid, stored.data], [uid, { a: '1' }]);
  assert.equal((await call('GET', `/api/v1/namespaces/kube-system/configmaps/a`)).status, 404);
});

test('a webhook denies a request with a status, and warnings for the client', async () => {
  await configure('validating', [webhook.config('v', CONFIG_MAPS)]);
  webhook.handle = () => ({
    allowed: false,
    warnings: ['old field'],
    status: { code: 403, reason: 'Odd', message: 'not today' },
  });
  const refused = await create('a');
  assert.equal(refused.status, 403);
  assert.equal(refused.headers.warning, '299 - "old field"');
  const { reason, message } = refused.json();
  assert.deepEqual([reason, message], ['Odd', 'admission webhook "v.example.com" denied the request: not today']);
  assert.equal((await call('GET', `${MAPS}/a`)).status, 404);
});

test('the review of a deletion contains the stored object', async () => {
  await create('a', { a: '1' });
  await configure('validating', [webhook.config('v', CONFIG_MAPS)]);
  webhook.handle = () => ({ allowed: false });
  assert.equal((await call('DELETE', `${MAPS}/a`, { propagationPolicy: 'Background' })).status, 400);
  const [{ operation, object, oldObject, options }] = webhook.requests;
  assert.deepEqual([operation, object, oldObject.data], ['DELETE', null, { a: '1' }]);
  assert.deepEqual(options, { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', propagationPolicy: 'Background' });
});

test('the failure policy applies to a webhook that cannot be called', async () => {
  const closed = { clientConfig: { ...webhook.clientConfig(), url: 'https://127.0.0.1:1/x' } };
  await configure('validating', [webhook.config('v', CONFIG_MAPS, closed)]);
  const failed = await create('a');
  assert.equal(failed.status, 500);
  const cause =
    'failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused';
  assert.equal(failed.json().message, `Internal error occurred: failed calling webhook "v.example.com": ${cause}`);
  const path = '/webhooks/0/failurePolicy';
  const ignore = [{ op: 'replace', path, value: 'Ignore' }];
  await call('PATCH', `${GROUP}/validatingwebhookconfigurations/test`, ignore, 'application/json-patch+json');
  assert.equal((await create('a')).status, 201);
});

test('a webhook with a certificate not signed by its CA bundle is not called', async () => {
  const other = readFileSync(join(directory, 'data/authority/authority.pem'), { encoding: 'utf8', flag: 'r' }).split(
    '-----BEGIN PRIVATE',
  )[0]!;
  const clientConfig = { ...webhook.clientConfig(), caBundle: Buffer.from(other).toString('base64') };
  await configure('validating', [webhook.config('v', CONFIG_MAPS, { clientConfig })]);
  assert.match((await create('a')).json().message, /tls: failed to verify certificate: x509: /);
  assert.equal(webhook.requests.length, 0);
});

test('unanswered webhook calls do not hold up others', async () => {
  await configure('validating', [webhook.config('v', CONFIG_MAPS, { timeoutSeconds: 10, failurePolicy: 'Ignore' })]);
  webhook.handle = ({ name }) => (name === 'fast' ? { allowed: true } : undefined);
  const slow = Array.from({ length: 120 }, (_, index) => create(`slow-${index}`));
  const signal = AbortSignal.timeout(9000);
  await waitFor(() => webhook.requests.length === 120 || undefined, { intervalMs: 20, signal });
  assert.equal((await create('fast')).status, 201);
  assert.equal(webhook.requests.at(-1)!.name, 'fast');
  for (const { status } of await Promise.all(slow)) assert.equal(status, 201);
});

test('hostile responses end within the webhook’s timeout, and redirects are not followed', async () => {
  const started = performance.now();
  const hostile: Record<string, TestWebhook['handle']> = {
    silent: () => undefined,
    dripping: (_, response) => {
      const timer = setInterval(() => response.write(' '), 50);
      response.once('close', () => clearInterval(timer));
      return undefined;
    },
    huge: (_, response) => {
      const chunk = Buffer.alloc(1 << 20, ' ');
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
      return undefined;
    },
    redirect: (_, response) => void response.writeHead(307, { location: '/other' }).end(),
    'many operations': () =>
      patched(...Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }))),
    growing: () =>
      patched(...Array.from({ length: 30 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/x${index}` }))),
    deep: (_, response) => void response.end(`{"response":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
    prototype: (_, response) =>
      void response.end('{"__proto__": {"kind": "AdmissionReview"}, "response": {"allowed": true}}'),
  };
  await configure('mutating', [webhook.config('m', CONFIG_MAPS, { timeoutSeconds: 1 })]);
  for (const [name, handle] of Object.entries(hostile)) {
    webhook.handle = handle;
    const answer = await create('a', { a: '1' });
    assert.equal(answer.status, 500, `${name}: ${answer.text}`);
  }
  assert.ok(webhook.requests.every(({ path }) => path === 'm'));
  assert.ok(performance.now() - started < 20_000);
  webhook.handle = () => ({ allowed: true });
  assert.equal((await create('a')).status, 201);
});

test('a call is retried within its timeout if the response has Retry-After', async () => {
  await configure('validating', [webhook.config('v', CONFIG_MAPS)]);
  const busy = (status: number, seconds: number): TestWebhook['handle'] => {
    return (_, response) => void response.writeHead(status, { 'retry-after': String(seconds) }).end('busy');
  };
  const check = async (status: number, seconds: number, reviews: number) => {
    webhook.requests.length = 0;
    webhook.handle = busy(status, seconds);
    assert.equal((await create('a')).status, 500);
    assert.equal(webhook.requests.length, reviews, `${status} after ${seconds} s`);
  };
  await check(503, 0, 11);
  await check(400, 0, 1);
  const short = [{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 1 }];
  await call('PATCH', `${GROUP}/validatingwebhookconfigurations/test`, short, 'application/json-patch+json');
  await check(429, 60, 1);
  webhook.requests.length = 0;
  webhook.handle = (review, response) =>
    webhook.requests.length > 2 ? { allowed: true } : busy(429, 0)(review, response);
  assert.equal((await create('a')).status, 201);
});

test('a connection is reused for several reviews, and replaced after the webhook closes it', async () => {
  await configure('validating', [webhook.config('v', CONFIG_MAPS)]);
  await create('a');
  const { connections } = webhook;
  for (const name of ['b', 'c', 'd']) assert.equal((await create(name)).status, 201);
  assert.equal(webhook.connections, connections);
  webhook.closeIdleConnections();
  assert.equal((await create('e')).status, 201);
  assert.equal(webhook.connections, connections + 1);
});

test('a dry run calls only webhooks without side effects', async () => {
  await configure('validating', [webhook.config('v', CONFIG_MAPS, { sideEffects: 'NoneOnDryRun' })]);
  assert.equal((await create('a', {}, '?dryRun=All')).status, 201);
  assert.equal(webhook.requests[0].dryRun, true);
  assert.equal((await call('GET', `${MAPS}/a`)).status, 404);
});

test('webhooks run in the order of their configurations’ names, and again after a change', async () => {
  const again = { reinvocationPolicy: 'IfNeeded' };
  await configure('mutating', [webhook.config('late', CONFIG_MAPS)], 'b');
  await configure('mutating', [webhook.config('early', CONFIG_MAPS, again)], 'a');
  webhook.handle = ({ path, object }) =>
    path in (object.data ?? {})
      ? { allowed: true }
      : patched({ op: 'add', path: '/data', value: { ...object.data, [path]: '' } });
  assert.deepEqual((await create('a')).json().data, { early: '', late: '' });
  assert.deepEqual(
    webhook.requests.map(({ path }) => path),
    ['early', 'late', 'early'],
  );
});

test('match conditions and selectors determine whether a webhook is called', async () => {
  const conditions = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] });
  const wrong = await call('POST', `${GROUP}/mutatingwebhookconfigurations`, {
    metadata: { name: 'wrong' },
    webhooks: [webhook.config('m', CONFIG_MAPS, conditions('object.'))],
  });
  assert.equal(wrong.status, 422);
  assert.match(wrong.json().message, /webhooks\[0\]\.matchConditions\[0\]\.expression: Invalid value/);
  await configure('validating', [
    webhook.config('yes', CONFIG_MAPS, conditions('object.metadata.name == "a"')),
    webhook.config('no', CONFIG_MAPS, conditions('request.operation == "DELETE"')),
    webhook.config('selected', CONFIG_MAPS, { objectSelector: { matchLabels: { a: 'b' } } }),
    webhook.config('namespace', CONFIG_MAPS, { namespaceSelector: { matchLabels: { a: 'b' } } }),
  ]);
  assert.equal((await create('a')).status, 201);
  assert.deepEqual(
    webhook.requests.map(({ path }) => path),
    ['yes'],
  );
  const strict = webhook.config('error', CONFIG_MAPS, conditions('object.none == 1'));
  await configure('validating', [strict], 'strict');
  const failed = await create('b');
  assert.equal(failed.status, 403);
  assert.match(
    failed.json().message,
    /^configmaps "b" is forbidden: expression 'object.none == 1' resulted in error: no such key: none$/,
  );
});

test('a rule for one version of a resource also matches requests in another version', async () => {
  const rule = { apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] };
  await configure('mutating', [webhook.config('same', rule), webhook.config('exact', rule, { matchPolicy: 'Exact' })]);
  webhook.handle = () => patched({ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 40 });
  const made = await call('POST', '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
    metadata: { name: 'h' },
    spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  });
  assert.equal(made.json().spec.metrics[0].resource.target.averageUtilization, 40, made.text);
  const [{ path, kind, requestKind, object }] = webhook.requests;
  assert.deepEqual(
    [path, kind.version, requestKind.version, object.apiVersion],
    ['same', 'v1', 'v2', 'autoscaling/v1'],
  );
  assert.equal(webhook.requests.length, 1);
});

test('the review of a write to the scale subresource contains the Scale', async () => {
  const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } } };
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const path = '/apis/apps/v1/namespaces/default/deployments';
  await call('POST', path, { metadata: { name: 'd' }, spec: { ...spec, template } });
  await configure('mutating', [webhook.config('m', { resources: ['deployments/scale'] })]);
  webhook.handle = () => patched({ op: 'replace', path: '/spec/replicas', value: 3 });
  const scaled = await call('PATCH', `${path}/d/scale`, { spec: { replicas: 9 } }, 'application/merge-patch+json');
  assert.equal(scaled.json().spec.replicas, 3, scaled.text);
  const [{ kind, object, oldObject }] = webhook.requests;
  assert.deepEqual([kind.kind, object.spec.replicas, oldObject.spec.replicas], ['Scale', 9, 1]);
});

test('webhooks are not called for webhook configurations', async () => {
  webhook.handle = () => ({ allowed: false });
  await configure('validating', [webhook.config('v', { resources: ['*'] })]);
  const path = `${GROUP}/validatingwebhookconfigurations/test`;
  const label = { metadata: { labels: { a: 'b' } } };
  assert.equal((await call('PATCH', path, label, 'application/merge-patch+json')).status, 200);
  assert.equal((await call('DELETE', path)).status, 200);
  assert.equal(webhook.requests.length, 0);
});

test('calls are counted, and recorded in the audit log', async () => {
  await configure('mutating', [webhook.config('counted', CONFIG_MAPS)]);
  webhook.handle = () => ({
    ...patched({ op: 'add', path: '/data/b', value: '2' }),
    auditAnnotations: { why: 'because', 'a b': 'c' },
  });
  await create('audited', { a: '1' });
  const metrics = (await call('GET', '/metrics')).text;
  const labels = 'name="counted.example.com",type="admit",operation="CREATE"';
  assert.match(
    metrics,
    new RegExp(`^apiserver_admission_webhook_request_total\\{${labels},code="200",rejected="false"\\} 1$`, 'm'),
  );
  assert.match(
    metrics,
    new RegExp(`^apiserver_admission_webhook_admission_duration_seconds_count\\{${labels},rejected="false"\\} 1$`, 'm'),
  );
  const isCreation = (one: Json) => one.stage === 'ResponseComplete' && one.requestObject?.metadata?.name === 'audited';
  const logged = async () => {
    const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line)).find(isCreation);
  };
  using signal = withTimeout(undefined, 10_000, 'wait for the audit log');
  const { annotations } = await waitFor(logged, { intervalMs: 20, signal });
  assert.equal(annotations['counted.example.com/why'], 'because');
  assert.equal(annotations['counted.example.com/a b'], undefined);
  const common = { configuration: 'test', webhook: 'counted.example.com' };
  assert.deepEqual(JSON.parse(annotations['mutation.webhook.admission.k8s.io/round_0_index_0']), {
    ...common,
    mutated: true,
  });
  assert.equal(JSON.parse(annotations['patch.webhook.admission.k8s.io/round_0_index_0']).patch[0].value, '2');
});

test('the server starts even if a webhook for its own objects cannot be called', async (t) => {
  const own = { directory: join(directory, 'other'), socketPath: join(directory, 'other.sock'), logger: silentLogger };
  const clientConfig = { ...webhook.clientConfig(), url: 'https://127.0.0.1:1/x' };
  const first = await startApiServer(own);
  t.after(() => first.stop());
  const there = { socketPath: own.socketPath, port: 0, certificate: '' };
  const request = (method: string, path: string, body?: object) =>
    send(there, 'the unix socket', {
      ...{ method, path, headers: { 'content-type': 'application/json' } },
      ...(body && { body: JSON.stringify(body) }),
    });
  const rules = { operations: ['CREATE'], resources: ['namespaces', 'flowschemas'] };
  const configuration = { metadata: { name: 'x' }, webhooks: [webhook.config('x', rules, { clientConfig })] };
  await request('POST', `${GROUP}/validatingwebhookconfigurations`, configuration);
  const flow = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/probes';
  assert.equal((await request('DELETE', flow)).status, 200);
  await request('DELETE', '/api/v1/namespaces/kube-node-lease');
  using signal = withTimeout(undefined, 20_000, 'wait for the end of the namespace');
  const isGone = async () => (await request('GET', '/api/v1/namespaces/kube-node-lease')).status === 404 || undefined;
  await waitFor(isGone, { intervalMs: 20, signal });
  assert.equal((await request('POST', '/api/v1/namespaces', { metadata: { name: 'n' } })).status, 500);
  await first.stop();
  const second = await startApiServer(own);
  t.after(() => second.stop());
  for (const path of ['/api/v1/namespaces/kube-node-lease', flow])
    assert.equal((await request('GET', path)).status, 200);
});
