import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { type AccessReviewKind, reviewAccess, reviewRules } from './access-reviews.ts';
import type { AuthorizationAttributes, Decision } from './authorizer.ts';
import { ALICE, rules } from './test-rbac.fixture.ts';

type Call = {
  kind?: AccessReviewKind;
  spec: unknown;
  metadata?: Record<string, unknown>;
  namespace?: string;
  decision?: Decision;
  reason?: string;
};

/** Returns the response to an access review, and the request that the authorizer was asked about. */
function review({
  kind = 'SubjectAccessReview',
  spec,
  metadata = {},
  namespace = '',
  decision = 'allow',
  reason = '',
}: Call) {
  const seen: AuthorizationAttributes[] = [];
  const authorizer = {
    authorize(attributes: AuthorizationAttributes) {
      seen.push(attributes);
      return { decision, reason };
    },
  };
  const object: ApiObject = { kind, metadata, spec };
  return { answer: reviewAccess(authorizer, { kind, object, user: ALICE, namespace }), attributes: seen[0]! };
}

const GET_POD = { verb: 'get', resource: 'pods', namespace: 'shop', name: 'web' };

test('a review returns the decision and its reason', () => {
  const statusOf = (decision: Decision, reason = '') =>
    review({ spec: { user: 'bob', resourceAttributes: GET_POD }, decision, reason }).answer.status;
  assert.deepEqual(statusOf('allow', 'RBAC'), { allowed: true, reason: 'RBAC' });
  assert.deepEqual(statusOf('no opinion'), { allowed: false });
  assert.deepEqual(statusOf('deny', 'no'), { allowed: false, denied: true, reason: 'no' });
});

test('a SubjectAccessReview checks the user it names', () => {
  const spec = {
    user: 'bob',
    groups: ['dev'],
    uid: '4',
    extra: { scope: ['a'] },
    resourceAttributes: { ...GET_POD, group: 'apps', subresource: 'scale' },
  };
  const { attributes, answer } = review({ spec });
  assert.deepEqual(answer.spec, spec);
  assert.deepEqual(attributes, {
    user: { username: 'bob', groups: ['dev'], uid: '4', extra: { scope: ['a'] } },
    verb: 'get',
    isResourceRequest: true,
    apiGroup: 'apps',
    resource: 'pods',
    subresource: 'scale',
    namespace: 'shop',
    name: 'web',
    path: '',
    fieldSelector: '',
  });
});

test('a SelfSubjectAccessReview checks the requesting user', () => {
  const spec = { nonResourceAttributes: { verb: 'get', path: '/metrics' }, user: 'root' };
  const { attributes } = review({ kind: 'SelfSubjectAccessReview', spec });
  assert.deepEqual([attributes.user, attributes.isResourceRequest, attributes.path], [ALICE, false, '/metrics']);
});

test('field selectors are passed on; unsupported ones are ignored', () => {
  const check = (fieldSelector: unknown, expected: string, evaluationError?: string) => {
    const { attributes, answer } = review({ spec: { user: 'bob', resourceAttributes: { ...GET_POD, fieldSelector } } });
    assert.equal(attributes.fieldSelector, expected);
    assert.equal((answer.status as { evaluationError?: string }).evaluationError, evaluationError);
  };
  const requirement = (operator: string, ...values: string[]) => ({ key: 'spec.nodeName', operator, values });
  const ignored = 'spec.resourceAttributes.fieldSelector ignored due to parse error';
  const partly = 'spec.resourceAttributes.fieldSelector partially ignored due to parse error';
  check({ rawSelector: 'a=b,c!=d' }, 'a=b,c!=d');
  check({ rawSelector: 'a' }, '', ignored);
  check(
    { requirements: [requirement('In', 'n,1'), requirement('NotIn', 'n2')] },
    'spec.nodeName=n\\,1,spec.nodeName!=n2',
  );
  check({ requirements: [requirement('In', 'n1'), requirement('Exists')] }, 'spec.nodeName=n1', partly);
  check({ requirements: [requirement('In', 'n1', 'n2')] }, '', ignored);
});

test('invalid reviews are rejected with upstream’s messages', () => {
  const check = (call: Call, message: string) =>
    assert.throws(
      () => review(call),
      (error: unknown) => error instanceof ApiError && assert.equal(error.message, message) === undefined,
    );
  const subject = '.authorization.k8s.io "" is invalid:';
  const path = { verb: 'get', path: '/' };
  check(
    { spec: { user: 'bob' } },
    `${subject} spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
  );
  check(
    { spec: { user: 'bob', resourceAttributes: {}, nonResourceAttributes: path } },
    `${subject} spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/"}: cannot be specified in combination with resourceAttributes`,
  );
  check(
    { spec: { resourceAttributes: GET_POD } },
    `${subject} spec.user: Invalid value: "": at least one of user or group must be specified`,
  );
  check(
    { spec: { user: 'bob', resourceAttributes: GET_POD }, metadata: { name: 'x' } },
    `${subject} metadata: Invalid value: {"name":"x"}: must be empty`,
  );
  const local = { kind: 'LocalSubjectAccessReview' as const, namespace: 'shop', metadata: { namespace: 'shop' } };
  check(
    { ...local, spec: { user: 'bob', nonResourceAttributes: path } },
    `${subject} spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/"}: disallowed on this kind of request`,
  );
  check(
    { ...local, spec: { user: 'bob', resourceAttributes: { ...GET_POD, namespace: 'x' } } },
    `${subject} spec.resourceAttributes.namespace: Invalid value: "x": must match metadata.namespace`,
  );
  check(
    { ...local, namespace: 'x', spec: { user: 'bob', resourceAttributes: GET_POD } },
    'spec.resourceAttributes.namespace must match namespace: x',
  );
  assert.ok(review({ ...local, spec: { user: 'bob', resourceAttributes: GET_POD } }).answer);
});

test('a SelfSubjectRulesReview lists the rules of a namespace', () => {
  const resolver = { rulesFor: () => ({ rules: rules('get core pods'), isIncomplete: true, errors: ['x'] }) };
  const object: ApiObject = { kind: 'SelfSubjectRulesReview', metadata: {}, spec: { namespace: 'shop' } };
  const status = {
    resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    nonResourceRules: [],
    incomplete: true,
    evaluationError: 'x',
  };
  assert.deepEqual(reviewRules(resolver, object, ALICE).status, status);
  assert.throws(() => reviewRules(resolver, { ...object, spec: {} }, ALICE), { message: 'no namespace on request' });
});
