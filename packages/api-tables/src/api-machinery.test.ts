import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRow, tableWith } from './row-checks.fixture.ts';

const POLICIES = 'admissionregistration.k8s.io';
const FLOWS = 'flowcontrol.apiserver.k8s.io';

test('webhook configurations and policies show their number of rules', () => {
  for (const prefix of ['Mutating', 'Validating']) {
    checkRow(`${prefix}WebhookConfiguration.${POLICIES}`, { webhooks: [{}, {}] }, { Webhooks: 2 });
    checkRow(`${prefix}WebhookConfiguration.${POLICIES}`, {}, { Webhooks: 0 });
  }
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const validating = `ValidatingAdmissionPolicy.${POLICIES}`;
  checkRow(validating, { spec: { validations: [{}], paramKind } }, { Validations: 1, ParamKind: 'v1/ConfigMap' });
  checkRow(
    `MutatingAdmissionPolicy.${POLICIES}`,
    { spec: { mutations: [{}] } },
    { Mutations: 1, ParamKind: '<unset>' },
  );
});

test('policy bindings show their policy and parameters', () => {
  const check = (paramRef: object | undefined, ParamRef: string) => {
    for (const prefix of ['Mutating', 'Validating']) {
      const key = `${prefix}AdmissionPolicyBinding.${POLICIES}`;
      checkRow(key, { spec: { policyName: 'p', paramRef } }, { PolicyName: 'p', ParamRef });
    }
  };
  check(undefined, '<unset>');
  check({ name: 'n' }, '*/n');
  check({ namespace: 'ns', name: 'n' }, 'ns/n');
  check(
    { selector: { matchLabels: { a: 'b' } } },
    '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}',
  );
});

test('flow schemas are sorted by precedence and name', () => {
  const of = (name: string, matchingPrecedence?: number) => ({ metadata: { name }, spec: { matchingPrecedence } });
  const { rows } = tableWith(`FlowSchema.${FLOWS}`, of('c', 9), of('b', 9), of('z', 1), of('y'));
  assert.deepEqual(
    rows.map(({ cells }) => cells[0]),
    ['y', 'z', 'b', 'c'],
  );
});

test('flow schemas and priority levels show their settings', () => {
  checkRow(
    `FlowSchema.${FLOWS}`,
    {
      spec: {
        priorityLevelConfiguration: { name: 'p' },
        matchingPrecedence: 1000,
        distinguisherMethod: { type: 'ByUser' },
      },
      status: { conditions: [{ type: 'Dangling', status: 'True' }] },
    },
    { PriorityLevel: 'p', MatchingPrecedence: 1000, DistinguisherMethod: 'ByUser', MissingPL: 'True' },
  );
  checkRow(`FlowSchema.${FLOWS}`, { spec: {} }, { DistinguisherMethod: '<none>', MissingPL: '?' });
  const check = (spec: object, ...[shares, Queues, HandSize, length]: (string | number)[]) =>
    checkRow(
      `PriorityLevelConfiguration.${FLOWS}`,
      { spec },
      { NominalConcurrencyShares: shares!, Queues: Queues!, HandSize: HandSize!, QueueLengthLimit: length! },
    );
  check({ type: 'Exempt', exempt: {} }, '<none>', '<none>', '<none>', '<none>');
  check(
    { limited: { nominalConcurrencyShares: 47, limitResponse: { type: 'Reject' } } },
    47,
    '<none>',
    '<none>',
    '<none>',
  );
  const queuing = { queues: 1, handSize: 0, queueLengthLimit: 10 };
  check({ limited: { nominalConcurrencyShares: 5, limitResponse: { queuing } } }, 5, 1, 0, 10);
});

test('storage versions show at most three servers', () => {
  const check = (count: number, StorageVersions: string) => {
    const storageVersions = Array.from({ length: count }, (_, index) => ({
      apiServerID: `s${index}`,
      encodingVersion: 'v1',
    }));
    checkRow('StorageVersion.internal.apiserver.k8s.io', { status: { storageVersions } }, { StorageVersions });
  };
  check(0, '<unset>');
  check(3, 's0=v1,s1=v1,s2=v1');
  check(5, 's0=v1,s1=v1,s2=v1 + 2 more...');
});

test('migrations show their resource and state', () => {
  const check = (resource: object, conditions: object[], ...[Resource, Status]: [string, string]) =>
    checkRow(
      'StorageVersionMigration.storagemigration.k8s.io',
      { spec: { resource }, status: { conditions } },
      { Resource, Status },
    );
  check({ resource: 'secrets' }, [], 'secrets', 'Unknown');
  const [running, succeeded] = ['Running', 'Succeeded'].map((type) => ({ type, status: 'True' }));
  check({ group: 'apps', resource: 'deployments' }, [running!, succeeded!], 'deployments.apps', 'Succeeded');
  check({ resource: 'secrets' }, [running!, { type: 'Failed', status: 'False' }], 'secrets', 'Running');
});

test('API services show whether they are available, with the reason', () => {
  const check = (spec: object, conditions: object[], ...[Service, Available]: [string, string]) =>
    checkRow('APIService.apiregistration.k8s.io', { spec, status: { conditions } }, { Service, Available });
  check({}, [], 'Local', 'Unknown');
  check({}, [{ type: 'Available', status: 'True', reason: 'Local' }], 'Local', 'True');
  const service = { namespace: 'ns', name: 's' };
  check(
    { service },
    [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }],
    'ns/s',
    'False (MissingEndpoints)',
  );
  check({ service }, [{ type: 'Available', status: 'False' }], 'ns/s', 'False');
});

test('a Status shows its reason and message', () => {
  const status = { status: 'Failure', reason: 'NotFound', message: 'not found' };
  checkRow('Status', status, { Status: 'Failure', Reason: 'NotFound', Message: 'not found' });
});
