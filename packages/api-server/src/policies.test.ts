/** Tests of ValidatingAdmissionPolicies on a complete server. */
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

test('a bound policy denies writes as soon as it is stored', async () => {
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

test('parameters are in the version named by the policy', async () => {
  const metadata = { name: 'limit' };
  const metric = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 7 } },
  };
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  const autoscaler = { metadata, spec: { scaleTargetRef, maxReplicas: 9, metrics: [metric] } };
  const scalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
  assert.equal((await call('POST', scalers, autoscaler)).status, 201);
  const { spec } = policy('object.spec.replicas <= params.spec.targetCPUUtilizationPercentage', ['deployments']);
  const paramKind = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler' };
  const policies = `${GROUP}/validatingadmissionpolicies`;
  const made = await call('POST', policies, { metadata: { name: 'q' }, spec: { ...spec, paramKind } });
  assert.equal(made.status, 201, made.text);
  const paramRef = { name: 'limit', namespace: 'default', parameterNotFoundAction: 'Deny' };
  const bound = { policyName: 'q', validationActions: ['Deny'], paramRef };
  await call('POST', `${GROUP}/validatingadmissionpolicybindings`, { metadata: { name: 'q' }, spec: bound });
  const path = '/apis/apps/v1/namespaces/default/deployments?dryRun=All';
  const create = (name: string, replicas: number) =>
    call('POST', path, { ...deployment(replicas), metadata: { name } });
  const allowed = await create('seven', 7);
  assert.equal(allowed.status, 201, allowed.text);
  assert.equal((await create('eight', 8)).status, 422);
  const metrics = (await call('GET', '/metrics')).text;
  const labels = '{policy="q",policy_binding="q",error_type="invalid_error",enforcement_action="deny"}';
  assert.ok(metrics.includes(`apiserver_validating_admission_policy_check_total${labels} 1\n`), metrics);
  assert.ok(metrics.includes(`apiserver_validating_admission_policy_check_duration_seconds_count${labels} 1\n`));
});
