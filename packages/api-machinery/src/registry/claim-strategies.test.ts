import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject, FieldError } from '@podwright/kube-kinds';
import { MemoryStore } from '../store/memory-store.ts';
import { claimStrategies } from './claim-strategies.ts';

const store = new MemoryStore();
const labels = { 'resource.kubernetes.io/admin-access': 'true' };
for (const metadata of [{ name: 'plain' }, { name: 'admin', labels }])
  store.create(
    { resource: 'namespaces', namespace: '', name: metadata.name },
    { apiVersion: 'v1', kind: 'Namespace', metadata },
  );
const strategies = claimStrategies(store);
const claims = strategies['resourceclaims.resource.k8s.io']!;
const templates = strategies['resourceclaimtemplates.resource.k8s.io']!;

const exactly = (adminAccess: boolean) => ({
  name: `r${adminAccess}`,
  exactly: { deviceClassName: 'gpu.example.com', allocationMode: 'All', adminAccess },
});
const spec = { devices: { requests: [exactly(false), exactly(true)] } };
const claim = (namespace: string, fields: object = {}): ApiObject => ({
  ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim' },
  ...{ metadata: { name: 'a', namespace }, spec, ...fields },
});
const shown = (errors: readonly FieldError[] | undefined) =>
  errors?.map(({ field, message }) => `${field}: ${message}`);

const detail =
  'Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace';

test('claims and templates with admin access are rejected outside admin namespaces', () => {
  const expected = [`spec.devices.requests[1].adminAccess: ${detail}`];
  const template = (namespace: string) => ({ ...claim(namespace), spec: { spec } });
  assert.deepEqual(shown(claims.validate?.(claim('plain'))), expected);
  assert.deepEqual(shown(templates.validate?.(template('plain'))), expected);
  assert.deepEqual(shown(claims.validate?.(claim('none'))), expected);
  for (const errors of [claims.validate?.(claim('admin')), templates.validate?.(template('admin'))])
    assert.deepEqual(errors, []);
  const harmless = claim('plain', { spec: { devices: { requests: [exactly(false)] } } });
  assert.deepEqual(claims.validate?.(harmless), []);
});

test('an allocation with admin access is rejected outside admin namespaces, unless it already exists', () => {
  const result = (adminAccess: boolean) => ({
    ...{ request: `r${adminAccess}`, driver: 'example.com', pool: 'p', device: 'd', adminAccess },
  });
  const status = { allocation: { devices: { results: [result(false), result(true)] } } };
  const [before, after] = [claim('plain'), claim('plain', { status })];
  const update = (object: ApiObject, old: ApiObject) =>
    shown(claims.subresources?.status?.validateUpdate?.(object, old))?.filter((one) => one.includes('admin access'));
  const expected = `status.allocation.devices.results[1].adminAccess: ${detail}`;
  assert.deepEqual(update(after, before), [expected]);
  assert.deepEqual(update(after, after), []);
  assert.deepEqual(update(claim('admin', { status }), claim('admin')), []);
});
