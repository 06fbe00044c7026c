import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ApiObject, STRATEGIES } from '@podwright/kube-kinds';
import type { ManagedFieldsEntry } from '../managed-fields/owners.ts';
import type { ScaleWrite } from './change-scale.ts';
import type { PatchRequest } from './patched-object.ts';
import { at, decoded, deployment, refusal, TestRegistries } from './test-registries.fixture.ts';

const strategy = STRATEGIES['deployments.apps']!.scale!;

const scaleTo = (replicas: number, metadata: object = {}): ScaleWrite => ({
  scale: decoded('autoscaling/v1', 'Scale', { metadata: { name: 'a', ...metadata }, spec: { replicas } }),
});
const applyOf = (replicas: number | undefined, force = false): { patch: PatchRequest } => ({
  patch: {
    ...{ mediaType: 'application/apply-patch+yaml', force },
    patch: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas } },
  },
});
const merge = (patch: object): { patch: PatchRequest } => ({
  patch: { mediaType: 'application/merge-patch+json', patch },
});

/** Lists the field owners, showing whether they own `spec.replicas` and other spec fields. */
const owners = ({ metadata }: ApiObject): string[] =>
  ((metadata.managedFields ?? []) as ManagedFieldsEntry[]).map((entry) => {
    const { manager, operation, apiVersion, subresource = '', fieldsV1 } = entry;
    const { 'f:replicas': replicas, ...others } = (fieldsV1?.['f:spec'] ?? {}) as Record<string, unknown>;
    const fields = [
      ...(replicas === undefined ? [] : ['replicas']),
      ...(Object.keys(others).length > 0 ? ['more'] : []),
    ];
    return `${manager} ${operation} ${apiVersion}/${subresource}: ${fields.join(' and ')}`;
  });

/** Creates a Deployment with 3 replicas, and returns a function that writes its Scale. */
async function withDeployment() {
  const test = new TestRegistries();
  const registry = test.of('deployments.apps/v1');
  await registry.create('default', deployment('a', { replicas: 3, minReadySeconds: 1 }), test.context());
  const write = async (given: ScaleWrite, fieldManager = 'scaler') => {
    const context = test.context({ subresource: 'scale', fieldManager });
    return (await registry.changeScale(at('a'), { strategy, write: given }, context)).object;
  };
  return { test, registry, write };
}

it('the writer of a scale owns the number of replicas of the object', async () => {
  const { write } = await withDeployment();
  const tester = 'tester Update apps/v1/: more';
  const updated = await write(scaleTo(4));
  assert.deepEqual(owners(updated), ['scaler Update apps/v1/scale: replicas', tester]);
  assert.equal((updated.spec as { replicas: number }).replicas, 4);
  assert.deepEqual(owners(await write(merge({ spec: { replicas: 5 } }), 'patcher')), [
    'patcher Update apps/v1/scale: replicas',
    tester,
  ]);
});

it('a scale that changes nothing leaves one entry of each manager', async () => {
  const { write } = await withDeployment();
  assert.deepEqual(owners(await write(scaleTo(3))), ['tester Update apps/v1/: replicas and more']);
});

it('an applied scale conflicts with the owner of the number of replicas, unless it is forced', async () => {
  const { write, registry, test } = await withDeployment();
  const status = await refusal(() => write(applyOf(4)));
  assert.deepEqual([status.code, status.reason], [409, 'Conflict']);
  assert.match(status.message, /conflict with "tester" using autoscaling\/v1: \.spec\.replicas$/);
  const tester = 'tester Update apps/v1/: more';
  const scaler = 'scaler Apply apps/v1/scale: replicas';
  assert.deepEqual(owners(await write(applyOf(4, true))), [scaler, tester]);
  assert.deepEqual(owners(await write(applyOf(5))), [scaler, tester]);
  const context = test.context({ fieldManager: 'other' });
  const configuration = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec: { replicas: 6 } };
  const apply: PatchRequest = { mediaType: 'application/apply-patch+yaml', patch: configuration };
  const conflict = await refusal(() => registry.patch(at('a'), apply, context));
  assert.match(conflict.message, /conflict with "scaler" with subresource "scale": \.spec\.replicas$/);
});

it('the fields of managers in versions that are not served are no longer tracked', async () => {
  const { write, registry, test } = await withDeployment();
  const entry = {
    manager: 'm',
    operation: 'Update',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:paused': {} } },
  };
  const managedFields = ['apps/v1beta2', 'apps/v9'].map((apiVersion) => ({ ...entry, apiVersion }));
  const change = (object: ApiObject) => ({ ...object, metadata: { ...object.metadata, managedFields } }) as ApiObject;
  await registry.change(at('a'), change, test.context({ fieldManager: undefined }));
  assert.deepEqual(owners(await write(scaleTo(4))), ['m Update apps/v1beta2/: more']);
});

it('a scale that is not valid is refused', async () => {
  const { write } = await withDeployment();
  const check = async (given: ScaleWrite, code: number, message: RegExp) => {
    const status = await refusal(() => write(given));
    assert.equal(status.code, code);
    assert.match(status.message, message);
  };
  await check(scaleTo(-1), 422, /^Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1/);
  await check(merge({ spec: { replicas: 'x' } }), 422, /cannot unmarshal string into Go struct field ScaleSpec/);
  await check(
    scaleTo(1, { uid: 'x' }),
    409,
    /^Operation cannot be fulfilled on deployments.apps\/scale|UID in precondition: x/,
  );
  await check(scaleTo(1, { resourceVersion: '1' }), 409, /the object has been modified/);
  await check(scaleTo(1, { name: 'b' }), 400, /the name of the object \(b\) does not match/);
});
