import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { ObservedRequest } from '../server/request-observer.ts';
import { RequestObservers } from '../server/request-observer.ts';
import { send, WAYS } from '../server/test-client.fixture.ts';
import { TestServer } from '../server/test-server.fixture.ts';
import { AuditLog } from './audit-log.ts';
import { AuditPolicy, METADATA_POLICY } from './audit-policy.ts';
import { openAuditLog } from './open-audit-log.ts';
import { RotatedFile } from './rotated-file.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pw-audit-'));
after(() => rmSync(scratch, { recursive: true }));

// biome-ignore lint/suspicious/noExplicitAny: tests read events of any kind
type Event = any;

const policyOf = (rules: string) =>
  `apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: ${rules}`;
const MAPS = '/api/v1/namespaces/x/configmaps';

/** Starts a server with an audit policy. Returns the server and the audit events it has logged so far. */
async function audited(policy: string, decide?: () => 'allow' | 'no opinion') {
  const events: Event[] = [];
  const write = (line: string) => events.push(JSON.parse(line));
  const observers = [new AuditLog({ policy: new AuditPolicy(policy), write, now: () => 1_000 })];
  return { server: await TestServer.start({ observers, decide }), events };
}

const configMap = (name: string, data = {}) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

test('each request has an event with its user, object and result', async () => {
  const { server, events } = await audited(METADATA_POLICY);
  await using _ = server;
  const headers = { 'user-agent': 'test/1', 'audit-id': 'id-1' };
  await send(server, WAYS[2], { path: `${MAPS}/missing`, user: 'alice', headers });
  assert.deepEqual(events, [
    {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'id-1',
      stage: 'ResponseComplete',
      requestURI: `${MAPS}/missing`,
      verb: 'get',
      user: { username: 'alice', groups: [] },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'test/1',
      objectRef: { resource: 'configmaps', namespace: 'x', name: 'missing', apiVersion: 'v1' },
      responseStatus: {
        metadata: {},
        status: 'Failure',
        message: 'configmaps "missing" not found',
        reason: 'NotFound',
        code: 404,
      },
      requestReceivedTimestamp: '1970-01-01T00:00:00.000000Z',
      stageTimestamp: '1970-01-01T00:00:01.000000Z',
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
    },
  ]);
});

test('refused requests are logged: unauthenticated, forbidden and impersonated', async () => {
  const { server, events } = await audited(METADATA_POLICY, () => 'no opinion');
  await using _ = server;
  await send(server, WAYS[1], { path: MAPS, user: '' });
  await send(server, WAYS[1], { path: MAPS, headers: { 'impersonate-user': 'bob' } });
  const [anonymous, forbidden] = events;
  assert.deepEqual([anonymous.user, anonymous.responseStatus.code, anonymous.annotations], [{}, 401, undefined]);
  assert.equal(forbidden.user.username, 'root');
  assert.equal(forbidden.impersonatedUser.username, 'bob');
  assert.equal(forbidden.annotations['authorization.k8s.io/decision'], 'forbid');
});

test('bodies are logged according to the policy, but never those of Secrets', async () => {
  const rules = `
- { level: None, users: [system:admin], verbs: [list] }
- { level: Request, resources: [{ resources: [configmaps], resourceNames: [only-request] }] }
- { level: RequestResponse, omitManagedFields: true }`;
  const { server, events } = await audited(policyOf(rules));
  await using _ = server;
  const [way] = WAYS;
  const headers = { 'content-type': 'application/json' };
  await send(server, way, { path: MAPS });
  assert.equal(events.length, 0);
  await send(server, way, { method: 'POST', path: MAPS, headers, body: configMap('one', { a: 'b' }) });
  const [created] = events;
  assert.deepEqual(created.requestObject.data, { a: 'b' });
  assert.equal(created.responseObject.metadata.name, 'one');
  assert.equal(created.responseObject.metadata.managedFields, undefined);
  await send(server, way, { path: `${MAPS}/only-request` });
  assert.deepEqual([events[1].level, events[1].responseObject], ['Request', undefined]);
  await send(server, way, { path: `${MAPS}/one` });
  assert.equal(events[2].responseObject.data.a, 'b');
  const patch = { 'content-type': 'application/merge-patch+json' };
  await send(server, way, { method: 'PATCH', path: `${MAPS}/one`, headers: patch, body: '{"data":{"c":"d"}}' });
  assert.deepEqual(events[3].requestObject, { data: { c: 'd' } });
  const secret = JSON.stringify({
    metadata: { name: 's' },
    stringData: { key: 'hidden' },
    data: { other: 'aGlkZGVu' },
  });
  await send(server, way, { method: 'POST', path: '/api/v1/namespaces/x/secrets', headers, body: secret });
  await send(server, way, { path: '/api/v1/namespaces/x/secrets/s' });
  assert.equal(events.length, 6);
  assert.doesNotMatch(JSON.stringify(events.slice(4)), /hidden|aGlkZGVu/);
  assert.equal(events[4].level, 'Metadata');
});

test('oversized events omit the bodies', async () => {
  const { server, events } = await audited(policyOf('[{ level: RequestResponse }]'));
  await using _ = server;
  const headers = { 'content-type': 'application/json' };
  const body = configMap('large', { a: 'x'.repeat(900_000) });
  await send(server, WAYS[0], { method: 'POST', path: MAPS, headers, body });
  assert.deepEqual([events[0].level, events[0].requestObject], ['Metadata', undefined]);
});

test('annotations and messages cannot make an event so large that it is dropped', () => {
  const events: Event[] = [];
  const policy = { decide: () => ({ level: 'Metadata', omitStages: [] }) } as unknown as AuditPolicy;
  const log = new AuditLog({ policy, write: (line) => events.push(JSON.parse(line)), now: () => 1 });
  const complete = (annotation: string, message: string) => {
    const annotations = new Map([['p/a', { value: annotation, level: undefined }]]);
    const bodies = { annotations, response: { kind: 'Status', status: 'Failure', message } };
    const request = { url: '/', method: 'GET', headers: {} };
    const fields = { auditId: 'a', request, startMs: 0, remoteAddress: '', decision: 'allow', bodies };
    log.completed(fields as unknown as ObservedRequest, 403);
    return events.at(-1);
  };
  assert.equal(complete('short', 'no').annotations['p/a'], 'short');
  const { annotations, responseStatus } = complete('x'.repeat(3 << 20), 'y'.repeat(3 << 20));
  assert.deepEqual(Object.keys(annotations), ['authorization.k8s.io/decision', 'authorization.k8s.io/reason']);
  assert.equal(responseStatus.message.length, 64 << 10);
});

test('rules match users, groups, verbs, resources, namespaces and paths', () => {
  type Info = Record<string, unknown>;
  const level = (rule: string, info: Info, user = { username: 'ann', groups: ['dev'] }) => {
    const policy = new AuditPolicy(policyOf(`[{ level: Request, ${rule} }]`));
    const all = { isResourceRequest: true, path: '', verb: 'get', apiGroup: '', resource: 'pods', subresource: '' };
    return policy.decide({ info: { ...all, namespace: 'x', name: 'p', ...info }, user } as never).level;
  };
  const matches = (rule: string, info: Info = {}) => assert.equal(level(rule, info), 'Request', rule);
  const differs = (rule: string, info: Info = {}) => assert.equal(level(rule, info), 'None', rule);
  matches('users: [ann]');
  differs('users: [bob]');
  matches('userGroups: [ops, dev]');
  differs('userGroups: [ops]');
  matches('verbs: [get]');
  differs('verbs: [list]');
  matches('namespaces: [x]');
  differs('namespaces: [y]');
  matches('resources: [{ resources: [pods] }]');
  differs('resources: [{ group: apps, resources: [pods] }]');
  matches('resources: [{ group: "" }]');
  differs('resources: [{ resources: [pods] }]', { subresource: 'log' });
  for (const one of ['pods/log', 'pods/*', '*/log', '*'])
    matches(`resources: [{ resources: ["${one}"] }]`, { subresource: 'log' });
  differs('resources: [{ resources: [pods/status] }]', { subresource: 'log' });
  matches('resources: [{ resources: [pods], resourceNames: [p] }]');
  differs('resources: [{ resources: [pods], resourceNames: [q] }]');
  const path = { isResourceRequest: false, path: '/healthz/x' };
  matches('nonResourceURLs: ["/healthz*"]', path);
  differs('nonResourceURLs: ["/healthz"]', path);
  differs('nonResourceURLs: ["/healthz*"]');
  differs('resources: [{ resources: [pods] }]', path);
});

test('an invalid policy is refused', async () => {
  const refused = (text: string, problem: RegExp) =>
    assert.throws(() => new AuditPolicy(text), { code: 'invalid_argument', message: problem });
  refused('a: [', /not valid YAML/);
  refused('kind: Policy', /of the kind Policy/);
  refused(policyOf('[]'), /no rules/);
  refused(policyOf('[{ level: All }]'), /unknown level "All"/);
  refused(policyOf('[{ level: None, omitStages: [x] }]'), /unknown stage x/);
  refused(policyOf('[{ level: None, namespaces: [x], nonResourceURLs: [/x] }]'), /both regular resources/);
  const path = join(scratch, 'log');
  const given = { logger: silentLogger, now: Date.now };
  await assert.rejects(openAuditLog({ path, policyPath: join(scratch, 'missing') }, given), /read the audit policy/);
});

test('the file is readable by root only, and bounded in size', async () => {
  const directory = mkdtempSync(join(scratch, 'rotated-'));
  const path = join(directory, 'audit.log');
  const file = new RotatedFile({ path, maxBytes: 100, maxFiles: 2, logger: silentLogger });
  for (let number = 0; number < 50; number++) {
    file.add(`${number} ${'x'.repeat(30)}`);
    await file.flush();
  }
  assert.deepEqual(readdirSync(directory).sort(), ['audit.log', 'audit.log.1', 'audit.log.2']);
  for (const name of readdirSync(directory)) {
    const { size, mode } = statSync(join(directory, name));
    assert.ok(size <= 100 && (mode & 0o777) === 0o600, name);
  }
  assert.match(readFileSync(path, 'utf8'), /^49 x+\n$/m);
  const again = new RotatedFile({ path, maxBytes: 1000, logger: silentLogger });
  again.add('more');
  await again.flush();
  assert.match(readFileSync(path, 'utf8'), /^49 x+\nmore\n$/m);
});

test('lines that cannot be written are dropped, and the loss is logged', async () => {
  const warnings: string[] = [];
  const logger = { warn: (_: object, message: string) => void warnings.push(message) } as never;
  const path = join(scratch, 'directory');
  writeFileSync(join(scratch, 'plain'), '');
  const file = new RotatedFile({ path: join(scratch, 'plain/audit.log'), logger });
  file.add('a');
  await file.flush();
  assert.deepEqual(warnings, ['write the audit log failed', 'the audit log lost events']);
  const full = new RotatedFile({ path, logger });
  for (let number = 0; number < 65; number++) full.add('x'.repeat(1 << 20));
  assert.ok(full.room() !== undefined);
  await full.flush();
  assert.deepEqual(warnings.slice(2), ['the audit log lost events']);
});

test('requests wait while the disk cannot keep up, so no event is lost', async () => {
  const path = join(scratch, 'busy.log');
  const { observer, close } = await openAuditLog({ path }, { logger: silentLogger, now: Date.now });
  const observers = new RequestObservers([observer], silentLogger);
  assert.equal(observers.room(), undefined);
  const file = new RotatedFile({ path, logger: silentLogger });
  for (let number = 0; number < 3; number++) file.add('x'.repeat(1 << 20));
  await file.room();
  assert.equal(file.room(), undefined);
  assert.equal(statSync(path).size, 3 * ((1 << 20) + 1));
  await close();
});
