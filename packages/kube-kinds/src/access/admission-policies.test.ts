import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, createErrors, decoded, subresourceUpdate, updateErrors } from '../strategy-checks.fixture.ts';
import { MUTATING_ADMISSION_POLICY, VALIDATING_ADMISSION_POLICY } from './admission-policies.ts';
import { MUTATING_ADMISSION_POLICY_BINDING, VALIDATING_ADMISSION_POLICY_BINDING } from './policy-bindings.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';
const RULE = { operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods'] };
const POLICY = {
  apiVersion,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec: { matchConstraints: { resourceRules: [RULE] }, validations: [{ expression: 'true' }] },
};
const withSpec = (spec: object) => changed(POLICY, { spec } as never);

test('policies get their defaults', () => {
  const match = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };
  assert.deepEqual(decoded(VALIDATING_ADMISSION_POLICY, POLICY).spec, {
    failurePolicy: 'Fail',
    matchConstraints: { ...match, resourceRules: [{ ...RULE, scope: '*' }] },
    validations: [{ expression: 'true' }],
  });
  const spec = { policyName: 'p', validationActions: ['Deny'], matchResources: {} };
  const binding = { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: {}, spec };
  assert.deepEqual(decoded(VALIDATING_ADMISSION_POLICY_BINDING, binding).spec, { ...spec, matchResources: match });
});

test('invalid validating policies have upstream’s errors', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(
      createErrors(VALIDATING_ADMISSION_POLICY, withSpec(spec)),
      errors.map((error) => `spec.${error}`),
    );
  check({});
  check({ failurePolicy: 'x' }, 'failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"');
  check({ matchConstraints: undefined }, 'matchConstraints: Required value');
  check({ matchConstraints: { resourceRules: [] } }, 'matchConstraints.resourceRules: Required value');
  check(
    { matchConstraints: { resourceRules: [{ ...RULE, resourceNames: ['a', 'a', '..'] }] } },
    'matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "..": may not be \'..\'',
    'matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
  );
  const none = 'Required value: validations or auditAnnotations must contain at least one item';
  check({ validations: [] }, `validations: ${none}`, `auditAnnotations: ${none}`);
  check(
    { validations: [{ expression: ' ', message: 'a\nb', messageExpression: ' ', reason: 'x' }] },
    'validations[0].expression: Required value: expression is not specified',
    'validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
    'validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
    'validations[0].reason: Unsupported value: "x": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
  );
  check(
    {
      variables: [
        { name: 'for', expression: '' },
        { name: ' ', expression: '1' },
      ],
    },
    'variables[0].name: Invalid value: "for": must be a valid CEL identifier',
    'variables[0].expression: Required value: expression is not specified',
    'variables[1].name: Required value: name is not specified',
  );
  check(
    {
      auditAnnotations: [
        { key: 'a', valueExpression: '1' },
        { key: 'a', valueExpression: '' },
      ],
    },
    'auditAnnotations[1].valueExpression: Required value: valueExpression is not specified',
    'auditAnnotations[1].key: Duplicate value: "a"',
  );
  check(
    { paramKind: { apiVersion: 'a/b/c', kind: '' } },
    'paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    'paramKind.kind: Required value',
  );
  check({ paramKind: { apiVersion: 'example.com/v1', kind: 'Foo' } });
  check({ matchConditions: [{ name: 'a', expression: '' }] }, 'matchConditions[0].expression: Required value');
});

test('unchanged conditions are not checked again', () => {
  const object = withSpec({ matchConditions: [{ name: 'a', expression: '' }] });
  assert.deepEqual(updateErrors(VALIDATING_ADMISSION_POLICY, object, object), []);
  assert.equal(updateErrors(VALIDATING_ADMISSION_POLICY, object, POLICY).length, 1);
  const withParams = changed(object, { spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } });
  assert.equal(updateErrors(VALIDATING_ADMISSION_POLICY, withParams, object).length, 1);
});

test('a policy’s status has expression warnings and conditions', () => {
  const update = (status: object) =>
    subresourceUpdate(VALIDATING_ADMISSION_POLICY, 'status', { object: { ...POLICY, status }, old: POLICY });
  const expressionWarnings = [{ fieldRef: 'spec.validations[0].expression', warning: 'w' }];
  assert.deepEqual(update({ typeChecking: { expressionWarnings } }).errors, []);
  assert.deepEqual(update({ typeChecking: { expressionWarnings: [{ fieldRef: '', warning: '' }] } }).errors, [
    'status.typeChecking.expressionWarnings[0].warning: Required value',
    'status.typeChecking.expressionWarnings[0].fieldRef: Required value',
  ]);
});

test('invalid mutating policies have upstream’s errors', () => {
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }];
  const base = changed(POLICY, {
    kind: 'MutatingAdmissionPolicy',
    spec: { validations: undefined, mutations, reinvocationPolicy: 'Never' },
  });
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(
      createErrors(MUTATING_ADMISSION_POLICY, changed(base, { spec } as never)),
      errors.map((error) => `spec.${error}`),
    );
  check({});
  check({ reinvocationPolicy: undefined }, 'reinvocationPolicy: Required value');
  check({ mutations: [] }, 'mutations: Required value: mutations must contain at least one item');
  check({ mutations: [{ patchType: '' }] }, 'mutations[0].patchType: Required value');
  check(
    { mutations: [{ patchType: 'Merge' }] },
    'mutations[0].patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"',
  );
  check(
    {
      mutations: [
        { patchType: 'ApplyConfiguration', jsonPatch: { expression: 'x' } },
        { patchType: 'JSONPatch', jsonPatch: { expression: ' ' } },
      ],
    },
    'mutations[0].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration',
    'mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
    'mutations[1].jsonPatch.expression: Required value',
  );
  check(
    { matchConstraints: { resourceRules: [{ ...RULE, operations: ['DELETE'] }] } },
    'matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
  );
});

test('invalid policy bindings have upstream’s errors', () => {
  const binding = (spec: object, kind = 'ValidatingAdmissionPolicyBinding') => ({
    apiVersion,
    kind,
    metadata: { name: 'b' },
    spec,
  });
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(
      createErrors(
        VALIDATING_ADMISSION_POLICY_BINDING,
        binding({ policyName: 'p', validationActions: ['Deny'], ...spec }),
      ),
      errors.map((error) => `spec.${error}`),
    );
  check({});
  check({ policyName: '' }, 'policyName: Required value');
  check({ validationActions: [] }, 'validationActions: Required value: at least one validation action is required');
  check(
    { validationActions: ['Deny', 'Warn', 'Deny', 'x'] },
    'validationActions[2]: Duplicate value: "Deny"',
    'validationActions[3]: Unsupported value: "x": supported values: "Audit", "Deny", "Warn"',
    'validationActions: Invalid value: ["Deny","Warn","Deny","x"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
  );
  check(
    { paramRef: {} },
    'paramRef: Required value: one of name or selector must be specified',
    'paramRef.parameterNotFoundAction: Required value',
  );
  check(
    { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'x' } },
    'paramRef.name: Forbidden: name and selector are mutually exclusive',
    'paramRef.selector: Forbidden: name and selector are mutually exclusive',
    'paramRef.parameterNotFoundAction: Unsupported value: "x": supported values: "Deny", "Allow"',
  );
  const mutating = binding(
    { policyName: 'p', matchResources: { resourceRules: [{ ...RULE, operations: ['DELETE'] }] } },
    'MutatingAdmissionPolicyBinding',
  );
  assert.deepEqual(createErrors(MUTATING_ADMISSION_POLICY_BINDING, mutating), [
    'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
  ]);
});
