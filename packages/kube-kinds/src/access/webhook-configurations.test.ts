import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, createErrors, decoded, updateErrors } from '../strategy-checks.fixture.ts';
import { MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION } from './webhook-configurations.ts';

const WEBHOOK = {
  name: 'a.b.c',
  clientConfig: { url: 'https://example.com/x' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [{ operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
};
const configuration = (...webhooks: object[]) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'a' },
  webhooks,
});
const errorsOf = (changes: object) =>
  createErrors(VALIDATING_WEBHOOK_CONFIGURATION, configuration(changed(WEBHOOK, changes as never)));

test('webhooks get their defaults', () => {
  const service = { name: 's', namespace: 'n' };
  const object = configuration({ ...WEBHOOK, clientConfig: { service } });
  const expected = {
    ...WEBHOOK,
    clientConfig: { service: { ...service, port: 443 } },
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    rules: [{ ...WEBHOOK.rules[0], scope: '*' }],
  };
  assert.deepEqual(decoded(VALIDATING_WEBHOOK_CONFIGURATION, object).webhooks, [expected]);
  const mutating = { ...object, kind: 'MutatingWebhookConfiguration' };
  assert.deepEqual(decoded(MUTATING_WEBHOOK_CONFIGURATION, mutating).webhooks, [
    { ...expected, reinvocationPolicy: 'Never' },
  ]);
});

test('invalid webhooks have upstream’s errors', () => {
  const check = (changes: object, ...errors: string[]) =>
    assert.deepEqual(
      errorsOf(changes),
      errors.map((error) => `webhooks[0].${error}`),
    );
  check({});
  check(
    { name: 'a.b' },
    'name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
  );
  check({ name: '' }, 'name: Required value');
  check({ failurePolicy: 'x' }, 'failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"');
  check({ matchPolicy: 'x' }, 'matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"');
  check({ sideEffects: undefined }, 'sideEffects: Required value: must specify one of None, NoneOnDryRun');
  check({ sideEffects: 'Some' }, 'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"');
  check(
    { timeoutSeconds: 31 },
    'timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
  );
  check({ admissionReviewVersions: [] }, 'admissionReviewVersions: Required value: must specify one of v1, v1beta1');
  check(
    { admissionReviewVersions: ['v2'] },
    'admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
  );
  check(
    { admissionReviewVersions: ['v1', 'v1'] },
    'admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
  );
  check(
    {
      matchConditions: [
        { name: 'a', expression: ' ' },
        { name: 'a', expression: 'true' },
        { name: '', expression: 'true' },
      ],
    },
    'matchConditions[0].expression: Required value',
    'matchConditions[1].name: Duplicate value: "a"',
    'matchConditions[2].name: Required value',
  );
  const twice = createErrors(VALIDATING_WEBHOOK_CONFIGURATION, configuration(WEBHOOK, WEBHOOK));
  assert.deepEqual(twice, ['webhooks[1].name: Duplicate value: "a.b.c"']);
});

test('invalid webhook client configurations have upstream’s errors', () => {
  const at = 'webhooks[0].clientConfig';
  const check = (client: object, ...errors: string[]) =>
    assert.deepEqual(
      errorsOf({ clientConfig: { url: undefined, ...client } }),
      errors.map((error) => `${at}${error}`),
    );
  check({}, ': Required value: exactly one of url or service is required');
  const form = '; desired format: https://host[/path]';
  check({ url: 'http://a' }, `.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`);
  check({ url: 'https:///x' }, `.url: Invalid value: "": host must be specified${form}`);
  check({ url: 'https://u:p@a' }, '.url: Invalid value: "u:p": user information is not permitted in the URL');
  check({ url: 'https://a#f' }, '.url: Invalid value: "f": fragments are not permitted in the URL');
  check({ url: 'https://a?q=1' }, '.url: Invalid value: "q=1": query parameters are not permitted in the URL');
  check({ service: { name: '', namespace: 'n' } }, '.service.namespace: Required value');
  const service = { name: 's', namespace: 'n' };
  check(
    { service: { ...service, port: 70000 } },
    '.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
  );
  check({ service: { ...service, path: '//' } }, '.service.path: Invalid value: "//": segment[0] may not be empty');
  check(
    { service: { ...service, path: '/a//b' } },
    '.service.path: Invalid value: "/a//b": segment[1] may not be empty',
  );
  check({ service: { ...service, path: '/a/' } });
});

test('invalid webhook rules have upstream’s errors', () => {
  const rule = WEBHOOK.rules[0]!;
  const check = (changes: object, ...errors: string[]) =>
    assert.deepEqual(
      errorsOf({ rules: [{ ...rule, ...changes }] }),
      errors.map((error) => `webhooks[0].rules[0].${error}`),
    );
  check({ operations: [] }, 'operations: Required value');
  check(
    { operations: ['*', 'CREATE'] },
    `operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
  );
  check(
    { operations: ['READ'] },
    'operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
  );
  check(
    { apiGroups: ['*', 'a'] },
    `apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`,
  );
  check({ apiVersions: [''] }, 'apiVersions[0]: Required value');
  check({ scope: 'x' }, 'scope: Unsupported value: "x": supported values: "*", "Cluster", "Namespaced"');
  check({ resources: ['a/*', 'a/b'] }, `resources[1]: Invalid value: "a/b": if 'a/*' is present, must not specify a/b`);
  check({ resources: ['*/a', 'b/a'] }, `resources[1]: Invalid value: "b/a": if '*/a' is present, must not specify b/a`);
  check(
    { resources: ['*/*', 'a'] },
    `resources: Invalid value: ["*/*","a"]: if '*/*' is present, must not specify other resources`,
  );
  check(
    { resources: ['*', 'a'] },
    `resources: Invalid value: ["*","a"]: if '*' is present, must not specify other resources without subresources`,
  );
  check({ resources: ['*', 'a/b'] });
});

test('an update may keep existing invalid values', () => {
  const wrong = {
    ...WEBHOOK,
    sideEffects: 'Some',
    admissionReviewVersions: ['v2'],
    matchConditions: [{ name: '', expression: '' }],
  };
  const old = configuration(wrong, wrong);
  assert.deepEqual(updateErrors(VALIDATING_WEBHOOK_CONFIGURATION, old, old), []);
  const repaired = updateErrors(VALIDATING_WEBHOOK_CONFIGURATION, configuration(wrong), configuration(WEBHOOK));
  assert.equal(repaired.length, 4);
});

test('names reserved for static configurations cause a warning', () => {
  const object = { ...configuration(), metadata: { name: 'a.static.k8s.io' } };
  assert.deepEqual(VALIDATING_WEBHOOK_CONFIGURATION.warnings?.(object, undefined), [
    'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
  ]);
});
