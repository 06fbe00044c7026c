import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PolicyEngine } from '@podwright/admission-policies';
import { type AddAnnotation, type AdmissionAttributes, ApiError, type ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { Schema } from '@podwright/kube-schema';
import { attributesOf, object, storeOf } from './test-admission.fixture.ts';

const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';
const BINDINGS = 'validatingadmissionpolicybindings.admissionregistration.k8s.io';
const schema = await Schema.load();
const versioned = (_: unknown, object: ApiObject): ApiObject => object;

const RULE = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] };

const policy = (spec: object): ApiObject =>
  object('p', { spec: { matchConstraints: { resourceRules: [RULE] }, ...spec } });

const binding = (spec: object): ApiObject =>
  object('b', { spec: { policyName: 'p', validationActions: ['Deny'], ...spec } });

type Request = {
  data?: object;
  labels?: Record<string, string>;
  old?: object;
  operation?: AdmissionAttributes['operation'];
};

/** Returns the message with which the request was denied or, if it was admitted, the warnings. */
async function verdict(
  spec: object,
  request: Request,
  { bound = {}, objects = {}, annotate }: { bound?: object; objects?: object; annotate?: AddAnnotation } = {},
): Promise<string> {
  const stored = { namespaces: object('shop', {}, { labels: { env: 'x' } }), ...objects };
  const store: ObjectStore = storeOf({ [POLICIES]: policy(spec), [BINDINGS]: binding(bound), ...stored });
  const authorizer = {
    authorize: ({ verb }: { verb: string }) => ({
      decision: verb === 'get' ? ('allow' as const) : ('deny' as const),
      reason: 'r',
    }),
  };
  const { data, labels = {}, old, operation } = request;
  const attributes = attributesOf({
    to: 'configmaps',
    ...(annotate && { annotate }),
    ...(operation === undefined ? {} : { operation }),
    ...(operation === 'DELETE' ? {} : { object: object('shop/c', { data }, { labels }) }),
    ...(old === undefined ? {} : { oldObject: object('shop/c', { data: old }) }),
  });
  try {
    await new PolicyEngine({ store, schema, authorizer, isServed: () => true, versioned }).validate(attributes);
    return attributes.warnings.join();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.status.reason} ${error.message}`;
    throw error;
  }
}

const denied = (message: string, status = '422 Invalid'): string =>
  `${status} configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message}`;

const validations = (...expressions: (string | object)[]) => ({
  validations: expressions.map((one) => (typeof one === 'string' ? { expression: one } : one)),
});

test('a policy denies requests that fail its validations', async () => {
  const spec = validations('object.data.a == "1"', {
    expression: 'has(object.data.b)',
    reason: 'Forbidden',
    message: ' no b ',
  });
  assert.equal(await verdict(spec, { data: { a: '1', b: '' } }), '');
  assert.equal(await verdict(spec, { data: { a: '2' } }), denied('failed expression: object.data.a == "1"'));
  assert.equal(await verdict(spec, { data: { a: '1' } }), denied('no b', '403 Forbidden'));
  assert.equal(
    await verdict(spec, { data: { b: '' } }),
    denied(`expression 'object.data.a == "1"' resulted in error: no such key: a`),
  );
  assert.equal(await verdict({ ...spec, failurePolicy: 'Ignore' }, { data: { b: '' } }), '');
  const message = {
    expression: 'false',
    messageExpression: '"in " + request.namespace + " by " + request.userInfo.username',
  };
  assert.match(await verdict(validations(message), {}), /denied request: in shop by /);
});

test('a binding with the actions Warn and Audit does not deny requests', async () => {
  const spec = validations('false');
  assert.equal(
    await verdict(spec, {}, { bound: { validationActions: ['Warn', 'Audit'] } }),
    "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: false",
  );
  assert.equal(await verdict(spec, {}, { bound: { validationActions: ['Audit'] } }), '');
});

test('policies annotate the audit event', async () => {
  const annotations: [string, string][] = [];
  const auditAnnotations = [
    { key: 'named', valueExpression: '"named " + object.metadata.name' },
    { key: 'none', valueExpression: 'null' },
  ];
  const annotate: AddAnnotation = (key, value) => annotations.push([key, value]);
  await verdict(
    { auditAnnotations, ...validations('false') },
    {},
    { bound: { validationActions: ['Audit'] }, annotate },
  );
  const failure = { message: 'failed expression: false', policy: 'p', binding: 'b', expressionIndex: 0 };
  assert.deepEqual(annotations, [
    [
      'validation.policy.admission.k8s.io/validation_failure',
      JSON.stringify([{ ...failure, validationActions: ['Audit'] }]),
    ],
    ['p/named', 'named c'],
  ]);
});

test('requests that do not match are not evaluated', async () => {
  const spec = validations('false');
  const constraints = (more: object) => ({ ...spec, matchConstraints: { resourceRules: [RULE], ...more } });
  assert.notEqual(await verdict(constraints({ namespaceSelector: { matchLabels: { env: 'x' } } }), {}), '');
  assert.equal(await verdict(constraints({ namespaceSelector: { matchLabels: { env: 'y' } } }), {}), '');
  assert.equal(await verdict(constraints({ objectSelector: { matchLabels: { a: 'b' } } }), {}), '');
  assert.notEqual(
    await verdict(constraints({ objectSelector: { matchLabels: { a: 'b' } } }), { labels: { a: 'b' } }),
    '',
  );
  assert.equal(await verdict(constraints({ excludeResourceRules: [{ ...RULE, resourceNames: ['c'] }] }), {}), '');
  assert.equal(await verdict(constraints({ resourceRules: [{ ...RULE, operations: ['UPDATE'] }] }), {}), '');
  assert.equal(
    await verdict(constraints({ resourceRules: [{ ...RULE, resources: ['pods', 'configmaps/status'] }] }), {}),
    '',
  );
  assert.equal(await verdict(constraints({ resourceRules: [{ ...RULE, scope: 'Cluster' }] }), {}), '');
  assert.equal(
    await verdict(spec, {}, { bound: { matchResources: { objectSelector: { matchLabels: { a: 'b' } } } } }),
    '',
  );
  const conditions = (expression: string) => ({ ...spec, matchConditions: [{ name: 'c', expression }] });
  assert.equal(await verdict(conditions('object.data.check == "yes"'), { data: { check: 'no' } }), '');
  assert.equal(
    await verdict(conditions('object.data.check == "yes"'), { data: { check: 'yes' } }),
    denied('failed expression: false'),
  );
  assert.match(
    await verdict(conditions('object.data.check == "yes"'), { data: {} }),
    /resulted in error: no such key: check/,
  );
});

test('expressions can use variables and parameter objects', async () => {
  const variables = [
    { name: 'n', expression: 'int(object.data.n)' },
    { name: 'twice', expression: 'variables.n * 2' },
    { name: 'never', expression: '1 / 0' },
  ];
  const spec = { variables, ...validations('variables.twice < 10') };
  assert.equal(await verdict(spec, { data: { n: '4' } }), '');
  assert.equal(await verdict(spec, { data: { n: '5' } }), denied('failed expression: variables.twice < 10'));
  assert.match(
    await verdict(spec, { data: { n: 'x' } }),
    /composited variable "twice" fails to evaluate: composited variable "n" fails/,
  );
  const withParams = {
    paramKind: { apiVersion: 'v1', kind: 'Secret' },
    ...validations('object.data.n == params.data.n'),
  };
  const objects = { secrets: object('shop/s', { data: { n: '3' } }, { labels: { a: 'b' } }) };
  const by = (paramRef: object) => ({ bound: { paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } }, objects });
  assert.equal(await verdict(withParams, { data: { n: '3' } }, by({ name: 's' })), '');
  assert.notEqual(await verdict(withParams, { data: { n: '4' } }, by({ selector: { matchLabels: { a: 'b' } } })), '');
  assert.match(await verdict(withParams, {}, by({ name: 'none' })), /failed to configure binding: no params found/);
  assert.equal(await verdict(withParams, {}, by({ name: 'none', parameterNotFoundAction: 'Allow' })), '');
  assert.match(
    await verdict({ ...withParams, paramKind: { apiVersion: 'x.y/v1', kind: 'Z' } }, {}, by({ name: 's' })),
    /'p' denied request: failed to configure policy/,
  );
});

test('expressions can use the request, the namespace, the old object and an authorizer', async () => {
  const holds = async (expression: string, request: Request = {}) =>
    assert.equal(await verdict(validations(expression), request), '', expression);
  await holds('request.kind.version == "v1" && request.resource.resource == "configmaps" && request.name == "c"');
  await holds(
    'request.operation == "CREATE" && oldObject == null && !has(request.subResource) && request.dryRun == false',
  );
  await holds('namespaceObject.metadata.labels.env == "x" && namespaceObject.metadata.name == "shop"');
  await holds('request.operation == "UPDATE" && oldObject.data.a != object.data.a', {
    data: { a: '1' },
    old: { a: '2' },
    operation: 'UPDATE',
  });
  await holds('object == null && oldObject.data.a == "2"', { old: { a: '2' }, operation: 'DELETE' });
  await holds('authorizer.group("apps").resource("deployments").namespace("x").check("get").allowed()');
  await holds(
    '!authorizer.requestResource.check("delete").allowed() && authorizer.path("/x").check("get").reason() == "r"',
  );
});

test('expressions that exceed the cost limit are stopped, and the request is denied', async () => {
  const startMs = performance.now();
  const loop = 'lists.range(2000).all(x, lists.range(2000).all(y, x + y >= 0))';
  assert.match(
    await verdict(validations(loop), {}),
    /resulted in error: operation cancelled: actual cost limit exceeded$/,
  );
  const many = validations(
    ...Array.from({ length: 100 }, () => 'lists.range(250).all(x, lists.range(250).all(y, true))'),
  );
  assert.match(await verdict(many, {}), /validation failed due to running out of cost budget/);
  assert.ok(performance.now() - startMs < 20_000);
});

test('other work runs between the validations of a policy', async () => {
  const slow = 'lists.range(200).all(x, lists.range(200).all(y, true))';
  const running = verdict(validations(...Array.from({ length: 20 }, () => slow)), {});
  let turns = 0;
  let isRunning = true;
  void running.finally(() => {
    isRunning = false;
  });
  for (; isRunning; turns++) await setImmediate();
  assert.equal(await running, '');
  assert.ok(turns > 10, `${turns} turns`);
});
