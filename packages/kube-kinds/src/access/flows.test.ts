import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, createErrors, decoded, subresourceUpdate } from '../strategy-checks.fixture.ts';
import { FLOW_SCHEMA } from './flow-schema.ts';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from './mandatory-flows.ts';
import { PRIORITY_LEVEL_CONFIGURATION } from './priority-level.ts';

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const RESOURCE_RULE = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
const RULE = { subjects: [{ kind: 'User', user: { name: 'a' } }], resourceRules: [RESOURCE_RULE] };
const SCHEMA = {
  apiVersion,
  kind: 'FlowSchema',
  metadata: { name: 'a' },
  spec: { priorityLevelConfiguration: { name: 'l' }, matchingPrecedence: 50, rules: [RULE] },
};
const LEVEL = {
  apiVersion,
  kind: 'PriorityLevelConfiguration',
  metadata: { name: 'l' },
  spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } },
};

test('schemas and levels get their defaults', () => {
  const { spec } = decoded(FLOW_SCHEMA, changed(SCHEMA, { spec: { matchingPrecedence: undefined } }));
  assert.equal((spec as { matchingPrecedence: number }).matchingPrecedence, 1000);
  assert.deepEqual(decoded(PRIORITY_LEVEL_CONFIGURATION, LEVEL).spec, {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: 30,
      lendablePercent: 0,
      limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
    },
  });
  const zero = changed(LEVEL, { spec: { limited: { nominalConcurrencyShares: 0 } } });
  const { limited } = decoded(PRIORITY_LEVEL_CONFIGURATION, zero).spec as {
    limited: { nominalConcurrencyShares: number };
  };
  assert.equal(limited.nominalConcurrencyShares, 0);
});

test('invalid flow schemas have upstream’s errors', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(
      createErrors(FLOW_SCHEMA, changed(SCHEMA, { spec } as never)),
      errors.map((error) => `spec.${error}`),
    );
  check({});
  check({ matchingPrecedence: -1 }, 'matchingPrecedence: Invalid value: -1: must be a positive value');
  check({ matchingPrecedence: 10_001 }, 'matchingPrecedence: Invalid value: 10001: must not be greater than 10000');
  check(
    { matchingPrecedence: 1 },
    "matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
  );
  check(
    { distinguisherMethod: { type: 'x' } },
    'distinguisherMethod.type: Unsupported value: {"type":"x"}: supported values: "ByNamespace", "ByUser"',
  );
  check(
    { priorityLevelConfiguration: { name: '' } },
    'priorityLevelConfiguration.name: Required value: must reference a priority level',
  );
  check(
    { rules: [{}] },
    'rules[0].subjects: Required value: subjects must contain at least one value',
    'rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
  );
});

test('flow schema subjects have only the field for their kind', () => {
  const check = (subject: object, ...errors: string[]) =>
    assert.deepEqual(
      createErrors(FLOW_SCHEMA, changed(SCHEMA, { spec: { rules: [{ ...RULE, subjects: [subject] }] } } as never)),
      errors.map((error) => `spec.rules[0].subjects[0].${error}`),
    );
  check({ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'n' } });
  check({ kind: 'x' }, 'kind: Unsupported value: "x": supported values: "Group", "ServiceAccount", "User"');
  check({ kind: 'Group' }, "group: Required value: group is required when subject kind is 'Group'");
  check(
    { kind: 'User', user: { name: '' }, group: { name: 'g' }, serviceAccount: { name: 'a', namespace: 'n' } },
    'user.name: Required value',
    "serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'",
    "group: Forbidden: group is forbidden when subject kind is not 'Group'",
  );
  check(
    { kind: 'ServiceAccount', serviceAccount: { name: 'a', namespace: '' } },
    'serviceAccount.namespace: Required value: must specify namespace for service account',
  );
});

test('invalid flow schema rules have upstream’s errors', () => {
  const errorsOf = (rule: object) =>
    createErrors(FLOW_SCHEMA, changed(SCHEMA, { spec: { rules: [{ ...RULE, resourceRules: [], ...rule }] } } as never));
  const resources = (changes: object, ...errors: string[]) =>
    assert.deepEqual(
      errorsOf({ resourceRules: [{ ...RESOURCE_RULE, ...changes }] }),
      errors.map((error) => `spec.rules[0].resourceRules[0].${error}`),
    );
  resources({ verbs: ['get', 'list'] });
  resources({ verbs: [] }, 'verbs: Required value: verbs must contain at least one value');
  resources(
    { verbs: ['*', 'get'] },
    `verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
  );
  resources(
    { verbs: ['read'] },
    'verbs: Unsupported value: ["read"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
  );
  resources({ apiGroups: [] }, 'apiGroups: Required value: resource rules must supply at least one api group');
  resources(
    { resources: ['*', 'a'] },
    `resources: Invalid value: ["*","a"]: if '*' is present, must not specify other resources`,
  );
  resources(
    { namespaces: [] },
    'namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
  );
  resources({ namespaces: [], clusterScope: true });
  assert.match(
    errorsOf({ resourceRules: [{ ...RESOURCE_RULE, namespaces: ['A'] }] }).join(),
    /namespaces\[0\]: Invalid value: "A": each member of this list must be '\*' or a DNS-1123 label; a lowercase/,
  );
  const url = (text: string, problem?: string) =>
    assert.deepEqual(
      errorsOf({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [text] }] }),
      problem === undefined
        ? []
        : [`spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: ${JSON.stringify(text)}: ${problem}`],
    );
  for (const valid of ['/', '/a', '/a/*']) url(valid);
  url('', 'must not be empty');
  url('a', 'must start with slash');
  url('/a b', 'must not contain white-space');
  url('/a//b', 'must not contain double slash');
  for (const wrong of ['/a*', '/*/a', '/*/*']) url(wrong, 'wildcard can only do suffix matching');
});

test('invalid priority levels have upstream’s errors', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(
      createErrors(PRIORITY_LEVEL_CONFIGURATION, { ...LEVEL, spec }),
      errors.map((error) => `spec.${error}`),
    );
  const limited = (more: object) => ({ type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...more } });
  const queue = (queuing: object) => limited({ limitResponse: { type: 'Queue', queuing } });
  check(limited({}));
  check({ type: 'Exempt' }, "type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'");
  const exempt = { ...LEVEL, metadata: { name: 'exempt' }, spec: { type: 'Exempt', limited: {} } };
  assert.ok(
    createErrors(PRIORITY_LEVEL_CONFIGURATION, exempt).includes(
      'spec.limited: Forbidden: must be nil if the type is not Limited',
    ),
  );
  check({ type: 'x' }, 'type: Unsupported value: "x": supported values: "Exempt", "Limited"');
  check({ type: 'Limited' }, 'limited: Required value: must not be empty when type is Limited');
  check({ ...limited({}), exempt: {} }, 'exempt: Forbidden: must be nil if the type is Limited');
  check(
    limited({ nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 }),
    'limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
    'limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
    'limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
  );
  const at = 'limited.limitResponse';
  check(
    limited({ limitResponse: { type: 'Reject', queuing: {} } }),
    `${at}.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited`,
  );
  check(
    limited({ limitResponse: { type: 'Queue' } }),
    `${at}.queuing: Required value: must not be empty if limited.limitResponse.type is Limited`,
  );
  check(
    queue({ queues: -1, queueLengthLimit: -1, handSize: -1 }),
    `${at}.queuing.queueLengthLimit: Invalid value: -1: must be positive`,
    `${at}.queuing.queues: Invalid value: -1: must be positive`,
    `${at}.queuing.handSize: Invalid value: -1: must be positive`,
  );
  check(
    queue({ queues: 4, handSize: 5 }),
    `${at}.queuing.handSize: Invalid value: 5: should not be greater than queues (4)`,
  );
  check(
    queue({ queues: 128, handSize: 10 }),
    `${at}.queuing.handSize: Invalid value: 10: required entropy bits of deckSize 128 and handSize 10 should not be greater than 60`,
  );
  check(
    queue({ queues: 10_000_001, handSize: 1 }),
    `${at}.queuing.queues: Invalid value: 10000001: must not be greater than 10000000`,
  );
  const key = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
  assert.deepEqual(
    createErrors(PRIORITY_LEVEL_CONFIGURATION, changed(LEVEL, { metadata: { annotations: { [key]: '' } } })),
    [`metadata.annotations: Forbidden: annotation '${key}' is forbidden`],
  );
});

test('mandatory schemas and levels have fixed specs, except for the shares of the exempt level', () => {
  for (const [name, spec] of MANDATORY_FLOW_SCHEMAS) {
    const object = { ...SCHEMA, metadata: { name }, spec };
    assert.deepEqual(createErrors(FLOW_SCHEMA, object), []);
    const errors = createErrors(FLOW_SCHEMA, changed(object, { spec: { rules: [RULE] } }));
    assert.match(errors.join(), new RegExp(`^spec: Invalid value: .*: spec of '${name}' must equal the fixed value$`));
  }
  for (const [name, spec] of MANDATORY_PRIORITY_LEVELS)
    assert.deepEqual(createErrors(PRIORITY_LEVEL_CONFIGURATION, { ...LEVEL, metadata: { name }, spec }), []);
  const shares = (name: string, field: string) => {
    const spec = changed(MANDATORY_PRIORITY_LEVELS.get(name)!, { [field]: { nominalConcurrencyShares: 7 } });
    return createErrors(PRIORITY_LEVEL_CONFIGURATION, { ...LEVEL, metadata: { name }, spec });
  };
  assert.deepEqual(shares('exempt', 'exempt'), []);
  assert.match(shares('catch-all', 'limited').join(), /spec of 'catch-all' must equal the fixed value$/);
});

test('schema and level conditions have distinct types', () => {
  const status = { conditions: [{ type: 'A' }, { type: 'A' }, { type: '' }] };
  for (const [strategy, old] of [
    [FLOW_SCHEMA, SCHEMA],
    [PRIORITY_LEVEL_CONFIGURATION, LEVEL],
  ] as const)
    assert.deepEqual(subresourceUpdate(strategy, 'status', { object: { ...old, status }, old }).errors, [
      'status.conditions[1].type: Duplicate value: "A"',
      'status.conditions[2].type: Required value',
    ]);
});
