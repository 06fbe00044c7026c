/** Tests of what users, nodes and administrators can still do after users have filled the store. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { type Answer, send } from './server/test-client.fixture.ts';
import { type ApiServer, startApiServer } from './start-api-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'full-store-'));
const socketPath = join(directory, 'api.sock');
const warnings: unknown[] = [];
const logger = { ...silentLogger, warn: (_: object, message: string) => warnings.push(message) };
let server: ApiServer;
before(async () => {
  server = await startApiServer({ directory: join(directory, 'data'), socketPath, logger, maxBytes: 4 << 20 });
});
after(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

type As = 'admin' | 'eve' | 'node';
const USERS: Record<As, object> = {
  admin: {},
  eve: { 'impersonate-user': 'eve' },
  node: { 'impersonate-user': 'system:node:n', 'impersonate-group': 'system:nodes' },
};

function call(as: As, method: string, path: string, body?: object): Promise<Answer> {
  const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
  const headers = { 'content-type': type, ...USERS[as] };
  const sent = { method, path, headers, ...(body && { body: JSON.stringify(body) }) };
  return send({ socketPath, port: 0, certificate: '' }, 'the unix socket', sent);
}

async function expectStatus(status: number, answer: Promise<Answer>): Promise<Answer> {
  const received = await answer;
  assert.equal(received.status, status, received.text.slice(0, 500));
  return received;
}

const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
const MAPS = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, bytes: number) => ({ metadata: { name }, data: { a: 'x'.repeat(bytes) } });

async function permitEve(): Promise<void> {
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }];
  await expectStatus(201, call('admin', 'POST', ROLES, { metadata: { name: 'eve' }, roleRef: role, subjects }));
}

test('patches cannot make an object larger than a body may be', async () => {
  await permitEve();
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const patch = (index: number) => {
    const env = [{ name: `V${index}`, value: 'x'.repeat(2_000_000) }];
    return { spec: { template: { spec: { containers: [{ name: 'c', env }] } } } };
  };
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template };
  await expectStatus(201, call('eve', 'POST', path, { metadata: { name: 'd' }, spec }));
  await expectStatus(200, call('eve', 'PATCH', `${path}/d`, patch(0)));
  const { message } = (await expectStatus(500, call('eve', 'PATCH', `${path}/d`, patch(1)))).json();
  assert.match(message, /^etcdserver: request is too large: the object would have 4\d+ bytes/);
  await expectStatus(200, call('eve', 'DELETE', `${path}/d`));
});

test('if users fill the store, deletions, reads and node status updates still work', async () => {
  const lease = { metadata: { name: 'n', namespace: 'kube-node-lease' }, spec: { holderIdentity: 'n' } };
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  await expectStatus(201, call('node', 'POST', '/api/v1/nodes', { metadata: { name: 'n' } }));
  const pod = { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } };
  await expectStatus(201, call('eve', 'POST', '/api/v1/namespaces/default/pods', pod));
  let answer: Answer;
  let count = 0;
  do answer = await call('eve', 'POST', MAPS, configMap(`c${count++}`, 500_000));
  while (answer.status === 201 && count < 20);
  while ((await call('eve', 'POST', MAPS, configMap(`s${count++}`, 2_000))).status === 201) assert.ok(count < 1_000);
  assert.equal(answer.status, 500);
  assert.match(answer.json().message, /^etcdserver: mvcc: database space exceeded: /);
  await expectStatus(500, call('admin', 'POST', MAPS, configMap('admin', 5_000)));
  await expectStatus(500, call('eve', 'PATCH', `${MAPS}/c0`, { data: { b: 'x'.repeat(5_000) } }));
  assert.deepEqual(warnings.filter((one) => /no space/.test(String(one))).length, 1);

  await expectStatus(201, call('node', 'POST', leases, lease));
  const conditions = [{ type: 'Ready', status: 'True', message: 'x'.repeat(4_000) }];
  const status = { status: { conditions } };
  await expectStatus(200, call('node', 'PATCH', '/api/v1/nodes/n/status', status));
  await expectStatus(200, call('node', 'PATCH', '/api/v1/namespaces/default/pods/p/status', status));
  const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' };
  const event = { metadata: { name: 'e' }, involvedObject, reason: 'Started', type: 'Normal' };
  await expectStatus(201, call('node', 'POST', '/api/v1/namespaces/default/events', event));
  await expectStatus(200, call('eve', 'GET', MAPS));
  await expectStatus(200, call('eve', 'DELETE', '/api/v1/namespaces/default/pods/p'));
  await expectStatus(200, call('eve', 'PATCH', `${MAPS}/c1`, { data: { a: 'y'.repeat(100) } }));
  await expectStatus(200, call('eve', 'DELETE', `${MAPS}/c0`));
  await expectStatus(201, call('eve', 'POST', MAPS, configMap('again', 400_000)));
});
