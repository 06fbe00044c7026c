/** Tests of MutatingAdmissionPolicies on a complete API server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { type Answer, send } from './server/test-client.fixture.ts';
import { type ApiServer, startApiServer } from './start-api-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'api-mutating-'));
const socketPath = join(directory, 'api.sock');
let server: ApiServer;

before(async () => {
  server = await startApiServer({ directory: join(directory, 'data'), socketPath, logger: silentLogger });
  await call('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'settings' },
    data: { replicas: '8' },
  });
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
const RULE = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] };
const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const jsonPatch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

const DEPLOYMENT = {
  metadata: { name: 'd', labels: { l: 'v' } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

/** Returns the response to the creation of a Deployment while a MutatingAdmissionPolicy with this spec and its binding exist. */
async function mutated(spec: object, binding: object = {}): Promise<Answer> {
  const matchConstraints = { resourceRules: [RULE] };
  const policy = await call('POST', `${GROUP}/mutatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: { matchConstraints, reinvocationPolicy: 'Never', ...spec },
  });
  assert.equal(policy.status, 201, policy.text);
  const bound = await call('POST', `${GROUP}/mutatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', ...binding },
  });
  assert.equal(bound.status, 201, bound.text);
  const made = await call('POST', '/apis/apps/v1/namespaces/default/deployments?dryRun=All', DEPLOYMENT);
  await call('DELETE', `${GROUP}/mutatingadmissionpolicies/p`);
  await call('DELETE', `${GROUP}/mutatingadmissionpolicybindings/b`);
  return made;
}

async function replicas(spec: object, binding?: object): Promise<number> {
  const made = await mutated(spec, binding);
  assert.equal(made.status, 201, made.text);
  return made.json().spec.replicas;
}

const PLUS_ONE = apply('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}');

test('apply configurations are merged into the object', async () => {
  const labels = 'Object{metadata: Object.metadata{labels: {"from": namespaceObject.metadata.name}}}';
  const side =
    'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "side", image: "s"}]}}}}';
  const made = (await mutated({ mutations: [apply(labels), apply(side), PLUS_ONE] })).json();
  assert.deepEqual(made.metadata.labels, { l: 'v', from: 'default' });
  const { containers } = made.spec.template.spec;
  assert.deepEqual(
    containers.map(({ name }: { name: string }) => name),
    ['c', 'side'],
  );
  assert.equal(containers[1].terminationMessagePath, '/dev/termination-log');
  assert.equal(made.spec.replicas, 1);
});

test('JSON patches are applied, unless one of their tests fails', async () => {
  const set = (value: number) => `JSONPatch{op: "replace", path: "/spec/replicas", value: ${value}}`;
  const tested = (value: number) => `JSONPatch{op: "test", path: "/spec/replicas", value: ${value}}`;
  assert.equal(await replicas({ mutations: [jsonPatch(`[${tested(0)}, ${set(6)}]`)] }), 6);
  assert.equal(await replicas({ mutations: [jsonPatch(`[${tested(5)}, ${set(6)}]`)] }), 0);
  const escaped = '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a.b/c"), value: "d"}]';
  assert.equal((await mutated({ mutations: [jsonPatch(escaped)] })).json().metadata.labels['a.b/c'], 'd');
});

test('variables, parameters and conditions are evaluated', async () => {
  const variables = [{ name: 'many', expression: 'object.spec.replicas + 4' }];
  const byVariable = [apply('Object{spec: Object.spec{replicas: variables.many}}')];
  assert.equal(await replicas({ variables, mutations: byVariable }), 4);
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const byParam = [apply('Object{spec: Object.spec{replicas: int(params.data.replicas)}}')];
  const paramRef = { name: 'settings', parameterNotFoundAction: 'Deny' };
  assert.equal(await replicas({ paramKind, mutations: byParam }, { paramRef }), 8);
  const unknown = { paramKind: { apiVersion: 'v1', kind: 'None' }, mutations: [PLUS_ONE] };
  const refused = await mutated(unknown, { paramRef });
  assert.equal(refused.status, 403);
  assert.equal(
    refused.json().message,
    `policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: '/v1, Kind=None'`,
  );
  const matchConditions = [{ name: 'c', expression: 'object.spec.replicas > 0' }];
  assert.equal(await replicas({ matchConditions, mutations: [PLUS_ONE] }), 0);
});

test('mutations are counted', async () => {
  const count = async (errorType: string) => {
    const { text } = await call('GET', '/metrics');
    const labels = `{policy="p",policy_binding="b",error_type="${errorType}"}`;
    const name = `apiserver_mutating_admission_policy_check_total${labels} `;
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.slice(name.length) ?? 0,
    );
  };
  const [before, failedBefore] = [await count('no_error'), await count('invalid_error')];
  await replicas({ mutations: [PLUS_ONE] });
  await mutated({ mutations: [apply('Object{spec: Object.spec{replicas: object.spec.none}}')] });
  assert.deepEqual([await count('no_error'), await count('invalid_error')], [before + 1, failedBefore + 1]);
});

test('a policy with reinvocation IfNeeded runs again after a mutation', async () => {
  assert.equal(await replicas({ reinvocationPolicy: 'IfNeeded', mutations: [PLUS_ONE] }), 2);
  assert.equal(await replicas({ mutations: [PLUS_ONE] }), 1);
});

test('the failure policy applies to mutations that cannot be applied', async () => {
  const by = "policy 'p' with binding 'b' denied request: ";
  const failures: [string, string][] = [
    ['Object{spec: Object.spec{replicas: object.spec.none}}', 'no such key: none'],
    ['Object{spec: Object.wrong{replicas: 1}}', 'unexpected type name "Object.wrong"'],
    ['Object{spec: Object.spec{none: 1}}', '.spec.none: field not declared in schema'],
    [
      'Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"a": "c"}}}}',
      'may not mutate atomic arrays, maps or structs: .spec.selector',
    ],
  ];
  for (const [expression, message] of failures) {
    const refused = await mutated({ mutations: [apply(expression)] });
    assert.equal(refused.status, 403, refused.text);
    const { message: found, reason } = refused.json();
    assert.ok(found.startsWith(by) && found.includes(message), found);
    assert.equal(reason, 'Invalid');
    assert.equal(await replicas({ failurePolicy: 'Ignore', mutations: [apply(expression)] }), 0);
  }
});

test('a policy with expressions that do not compile is rejected', async () => {
  const spec = { matchConstraints: { resourceRules: [RULE] }, reinvocationPolicy: 'Never' };
  for (const [mutation, message] of [
    [apply('{"spec": {}}'), /applyConfiguration.expression: .*must evaluate to Object but got map/],
    [jsonPatch('[1]'), /jsonPatch.expression: .*must evaluate to list\(JSONPatch\) but got list\(int\)/],
    [apply('Wrong{}'), /undeclared reference to 'Wrong'/],
  ] as const) {
    const body = { metadata: { name: 'x' }, spec: { ...spec, mutations: [mutation] } };
    const refused = await call('POST', `${GROUP}/mutatingadmissionpolicies`, body);
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.json().message, message);
  }
});
