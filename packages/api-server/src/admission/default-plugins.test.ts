import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { Schema } from '@podwright/kube-schema';
import { defaultAdmission } from './default-plugins.ts';
import { attributesOf, object, put, storeOf } from './test-admission.fixture.ts';

const store = storeOf({
  namespaces: object('shop', {}, { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } }),
  serviceaccounts: object('shop/default'),
  limitranges: object('shop/r', { spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' } }] } }),
  resourcequotas: object('shop/q', { spec: { hard: { 'requests.cpu': '150m' } } }),
});
const authorizer = { authorize: () => ({ decision: 'no opinion' as const, reason: '' }) };
const versioned = (_: unknown, one: ApiObject): ApiObject => one;
const parts = { store, schema: await Schema.load(), authorizer, isServed: () => true, versioned, now: Date.now };
const chain = defaultAdmission(parts);

async function create(name: string, spec: Record<string, unknown> = {}) {
  const attributes = attributesOf({
    to: 'pods',
    object: object(`shop/${name}`, { spec: { containers: [{ name: 'a' }], ...spec } }),
  });
  const admitted = await chain.mutate(attributes);
  await chain.validate({ ...attributes, object: admitted! });
  return admitted!;
}

test('a pod passes all plugins, and the quota counts the defaults of the limit range', async () => {
  await assert.rejects(create('host', { hostNetwork: true }), /violates PodSecurity "baseline:latest"/);
  const { spec } = await create('one');
  const { containers, tolerations, priority, serviceAccountName } = spec as Record<string, unknown> & {
    containers: { resources: unknown }[];
    tolerations: unknown[];
  };
  assert.deepEqual(
    [containers[0]!.resources, tolerations.length, priority, serviceAccountName],
    [{ requests: { cpu: '100m' } }, 2, 0, 'default'],
  );
  await assert.rejects(
    create('two'),
    /exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=100m, limited: requests.cpu=150m/,
  );
});

test('a write without an object, such as a deletion, is only validated', async () => {
  const deletion = attributesOf({ to: 'namespaces', oldObject: object('default') });
  assert.equal(await chain.mutate(deletion), undefined);
  await assert.rejects(chain.validate(deletion), /may not be deleted/);
});

test('a namespace deleted during a webhook call gets no new object', async () => {
  put(store, 'namespaces', object('brief', { status: { phase: 'Active' } }));
  const validate = () => put(store, 'namespaces', object('brief', { status: { phase: 'Terminating' } }));
  const slow = defaultAdmission({ ...parts, webhooks: { validating: { name: 'slow', validate } } });
  const attributes = attributesOf({ to: 'configmaps', object: object('brief/late') });
  await slow.mutate(attributes);
  await assert.rejects(slow.validate(attributes), /namespace brief because it is being terminated/);
});
