/** ValidatingAdmissionPolicies on the composed server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { type Answer, send } from './server/test-client.fixture.ts';
import { type ApiServer, startApiServer } from './start-api-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'api-server-'));
const socketPath = join(directory, 'api.sock');
let server: ApiServer;

before(async () => {
  server = await startApiServer({ directory: join(directory, 'data'), socketPath, logger: silentLogger });
});
after(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

function call(method: string, path: string, body?: object, type = 'application/json'): Promise<Answer> {
  const sent = { method, path, headers: { 'content-type': type }, ...(body && { body: JSON.stringify(body) }) };
  return send({ socketPath, port: 0, certificate: '' }, 'the unix socket', sent);
}

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const apiVersion = 'admissionregistration.k8s.io/v1';
const rule = { apiGroups: ['apps', 'autoscaling'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'] };

const policy = (expression: string, resources: string[]) => ({
  ...{ apiVersion, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'p' } },
  spec: {
    matchConstraints: { resourceRules: [{ ...rule, resources }] },
    validations: [{ expression, message: 'too many replicas' }],
  },
});

const deployment = (replicas: number) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } },
  spec: {
    replicas,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

test('a policy with a binding denies writes, as soon as it is stored', async () => {
  const wrong = await call('POST', `${GROUP}/validatingadmissionpolicies`, policy('object.spec.', ['deployments']));
  assert.equal(wrong.status, 422, wrong.text);
  const made = await call(
    'POST',
    `${GROUP}/validatingadmissionpolicies`,
    policy('object.spec.replicas <= 3', ['deployments']),
  );
  assert.equal(made.status, 201, made.text);
  const path = '/apis/apps/v1/namespaces/default/deployments';
  assert.equal((await call('POST', path, deployment(3))).status, 201);
  const kind = 'ValidatingAdmissionPolicyBinding';
  const spec = { policyName: 'p', validationActions: ['Deny'] };
  const bound = await call('POST', `${GROUP}/validatingadmissionpolicybindings`, {
    apiVersion,
    kind,
    metadata: { name: 'b' },
    spec,
  });
  assert.equal(bound.status, 201, bound.text);
  const changed = await call('PATCH', `${path}/d`, { spec: { replicas: 4 } }, 'application/merge-patch+json');
  assert.equal(changed.status, 422);
  const cause = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too many replicas";
  assert.equal(changed.json().message, `deployments.apps "d" is forbidden: ${cause}`);
  assert.deepEqual(changed.json().details.causes, [{ message: cause }]);
  await call('DELETE', `${GROUP}/validatingadmissionpolicies/p`);
  assert.equal(
    (await call('PATCH', `${path}/d`, { spec: { replicas: 4 } }, 'application/merge-patch+json')).status,
    200,
  );
});
