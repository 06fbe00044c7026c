import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, created, createErrors, subresourceUpdate } from '../strategy-checks.fixture.ts';
import { API_SERVICE } from './api-service.ts';

const SERVICE = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.example.com' },
  spec: {
    group: 'example.com',
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 1,
    service: { name: 's', namespace: 'n' },
  },
};

test('a version without a service is available immediately', () => {
  const status = (spec: object) => created(API_SERVICE, changed(SERVICE, { spec } as never)).status;
  assert.deepEqual(status({}), {});
  assert.deepEqual(status({ service: undefined }), {
    conditions: [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: '2026-01-02T03:04:05Z',
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ],
  });
});

test('invalid API services have upstream’s errors', () => {
  const check = (changes: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(API_SERVICE, changed(SERVICE, changes as never)), errors);
  check({});
  check(
    { metadata: { name: 'x' } },
    'metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.example.com"',
  );
  check(
    { metadata: { name: 'v2.' }, spec: { group: '', version: 'v2' } },
    'spec.group: Required value: only v1 may have an empty group and it better be legacy kube',
  );
  check({ metadata: { name: 'v1.' }, spec: { group: '' } });
  check(
    { spec: { groupPriorityMinimum: 0, versionPriority: 1001 } },
    'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
    'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
  );
  check(
    { spec: { service: { name: '', port: 0 } } },
    'spec.service.name: Required value',
    'spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
  );
  check(
    { spec: { insecureSkipTLSVerify: true, caBundle: 'AAAA' } },
    'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
  );
  check(
    { spec: { service: undefined, insecureSkipTLSVerify: true, caBundle: 'AAAA' } },
    'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
    'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
  );
});

test('a status update preserves the spec and labels', () => {
  const object = changed(SERVICE, {
    metadata: { labels: { a: 'b' }, resourceVersion: '2' },
    spec: { versionPriority: 2 },
    status: { conditions: [{ type: 'A', status: 'x' }] },
  });
  const result = subresourceUpdate(API_SERVICE, 'status', { object, old: SERVICE });
  assert.deepEqual(result.errors, [
    'status.conditions[0].status: Unsupported value: "x": supported values: "True", "False", "Unknown"',
  ]);
  assert.deepEqual(result.object.metadata, { name: 'v1.example.com', resourceVersion: '2' });
  assert.equal((result.object.spec as { versionPriority: number }).versionPriority, 1);
  assert.deepEqual(API_SERVICE.subresources?.status?.resetFields, [['spec'], ['metadata']]);
});
