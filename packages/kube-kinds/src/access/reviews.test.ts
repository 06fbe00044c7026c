import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Strategy } from '../strategy.ts';
import { createErrors, decoded } from '../strategy-checks.fixture.ts';
import { LOCAL_SUBJECT_ACCESS_REVIEW, SELF_SUBJECT_ACCESS_REVIEW, SUBJECT_ACCESS_REVIEW } from './reviews.ts';
import { TOKEN_REQUEST } from './token-request.ts';

const checkOf =
  (strategy: Strategy, kind: string) =>
  (spec: object, metadata: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(strategy, { apiVersion: 'authorization.k8s.io/v1', kind, metadata, spec }), errors);

test('invalid access reviews have upstream’s errors', () => {
  const check = checkOf(SUBJECT_ACCESS_REVIEW, 'SubjectAccessReview');
  check({ user: 'a', resourceAttributes: {} }, {});
  check({ groups: ['a'], nonResourceAttributes: {} }, {});
  check({ groups: ['a'], nonResourceAttributes: {} }, { labels: {}, generation: 0, managedFields: [{ manager: 'm' }] });
  check(
    {},
    { name: 'x' },
    'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    'spec.user: Invalid value: "": at least one of user or group must be specified',
    'metadata: Invalid value: {"name":"x"}: must be empty',
  );
  checkOf(SELF_SUBJECT_ACCESS_REVIEW, 'SelfSubjectAccessReview')(
    { resourceAttributes: {}, nonResourceAttributes: { path: '/' } },
    {},
    'spec.nonResourceAttributes: Invalid value: {"path":"/"}: cannot be specified in combination with resourceAttributes',
  );
});

test('invalid access review selectors have upstream’s errors', () => {
  const at = 'spec.resourceAttributes';
  const check = (attributes: object, ...errors: string[]) =>
    checkOf(SELF_SUBJECT_ACCESS_REVIEW, 'SelfSubjectAccessReview')(
      { resourceAttributes: attributes },
      {},
      ...errors.map((error) => `${at}.${error}`),
    );
  check({ fieldSelector: { requirements: [{ key: 'a', operator: 'New', values: [] }] } });
  check(
    { fieldSelector: {} },
    `fieldSelector.requirements: Required value: when ${at}.fieldSelector is specified, requirements or rawSelector is required`,
  );
  check(
    { labelSelector: { rawSelector: 'a', requirements: [{ key: '', operator: 'In' }] } },
    'labelSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements',
    "labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    'labelSelector.requirements[0].key: Invalid value: "": name part must be non-empty',
    `labelSelector.requirements[0].key: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
  );
  check(
    { fieldSelector: { requirements: [{ key: '', operator: 'Exists', values: ['a'] }] } },
    'fieldSelector.requirements[0].key: Required value: must be specified',
    "fieldSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
  );
});

test('a local review applies to its own namespace', () => {
  const check = checkOf(LOCAL_SUBJECT_ACCESS_REVIEW, 'LocalSubjectAccessReview');
  check({ user: 'a', resourceAttributes: { namespace: 'n' } }, { namespace: 'n' });
  check(
    { user: 'a', resourceAttributes: {} },
    { namespace: 'n' },
    'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
  );
  check(
    { user: 'a', nonResourceAttributes: { path: '/' } },
    { namespace: 'n', labels: { a: 'b' } },
    'metadata: Invalid value: {"namespace":"n","labels":{"a":"b"}}: must be empty except for namespace',
    'spec.nonResourceAttributes: Invalid value: {"path":"/"}: disallowed on this kind of request',
  );
});

test('a token lasts an hour by default, and at least ten minutes', () => {
  const request = (spec: object) => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec,
  });
  const { spec } = decoded(TOKEN_REQUEST, request({ audiences: [] }));
  assert.equal((spec as { expirationSeconds: number }).expirationSeconds, 3600);
  assert.deepEqual(createErrors(TOKEN_REQUEST, request({ expirationSeconds: 600 })), []);
  assert.deepEqual(createErrors(TOKEN_REQUEST, request({ expirationSeconds: 599 })), [
    'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  ]);
  assert.deepEqual(createErrors(TOKEN_REQUEST, request({ expirationSeconds: 2 ** 32 + 1 })), [
    'spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
  ]);
});
