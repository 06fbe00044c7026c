import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultIngressClass, defaultStorageClass } from './default-classes.ts';
import { podResizeValidator } from './pod-resize.ts';
import { podTopologyLabels, storageObjectInUseProtection, taintNodesByCondition } from './small-plugins.ts';
import { admit, object, rejects, storeOf } from './test-admission.fixture.ts';
import { persistentVolumeClaimResize } from './volume-expansion.ts';

const classes = (annotation: string, ...names: string[]) =>
  names.map((name, index) =>
    object(
      name,
      {},
      { annotations: { [annotation]: 'true' }, creationTimestamp: `2026-01-0${1 + (index % 3)}T00:00:00Z` },
    ),
  );
const at = (value: unknown, field: string) => (value as Record<string, unknown>)[field];

test('a claim without a class gets the newest default class', async () => {
  const annotation = 'storageclass.kubernetes.io/is-default-class';
  const store = storeOf({
    'storageclasses.storage.k8s.io': [
      ...classes(annotation, 'a', 'b', 'd', 'e'),
      object(
        'c',
        {},
        {
          annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' },
          creationTimestamp: '2026-01-03T00:00:00Z',
        },
      ),
    ],
  });
  const classOf = async (spec: Record<string, unknown>, metadata = {}, plugin = defaultStorageClass(store)) =>
    at(
      (await admit(plugin, { to: 'persistentvolumeclaims', object: object('shop/data', { spec }, metadata) })).object
        .spec,
      'storageClassName',
    );
  assert.equal(await classOf({}), 'c');
  assert.equal(await classOf({ storageClassName: '' }), '');
  assert.equal(await classOf({ storageClassName: 'x' }), 'x');
  assert.equal(await classOf({}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } }), undefined);
  assert.equal(await classOf({}, {}, defaultStorageClass(storeOf({}))), undefined);
});

test('an Ingress without a class gets the newest default class', async () => {
  const store = storeOf({
    'ingressclasses.networking.k8s.io': classes('ingressclass.kubernetes.io/is-default-class', 'a', 'b'),
  });
  const classOf = async (spec: Record<string, unknown>, metadata = {}) =>
    at(
      (
        await admit(defaultIngressClass(store), {
          to: 'ingresses.networking.k8s.io',
          object: object('shop/x', { spec }, metadata),
        })
      ).object.spec,
      'ingressClassName',
    );
  assert.equal(await classOf({}), 'b');
  assert.equal(await classOf({ ingressClassName: 'x' }), 'x');
  assert.equal(await classOf({}, { annotations: { 'kubernetes.io/ingress.class': 'x' } }), undefined);
});

test('a new node is tainted until ready', async () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const taintsOf = async (spec: Record<string, unknown>) =>
    at((await admit(taintNodesByCondition, { to: 'nodes', object: object('n1', { spec }) })).object.spec, 'taints');
  assert.deepEqual(await taintsOf({}), [taint]);
  const other = { ...taint, effect: 'NoExecute' };
  assert.deepEqual(await taintsOf({ taints: [other] }), [other, taint]);
  assert.deepEqual(await taintsOf({ taints: [taint] }), [taint]);
  const update = { to: 'nodes', object: object('n1', { spec: {} }), oldObject: object('n1') };
  assert.equal((await admit(taintNodesByCondition, update)).object, update.object);
});

test('volumes, claims and their classes are protected by a finalizer', async () => {
  const finalizers = async (to: string, metadata = {}) =>
    (await admit(storageObjectInUseProtection, { to, object: object('x', {}, metadata) })).object.metadata.finalizers;
  assert.deepEqual(await finalizers('persistentvolumes', { finalizers: ['a'] }), ['a', 'kubernetes.io/pv-protection']);
  assert.deepEqual(await finalizers('persistentvolumeclaims'), ['kubernetes.io/pvc-protection']);
  assert.deepEqual(await finalizers('volumeattributesclasses.storage.k8s.io'), ['kubernetes.io/vac-protection']);
  const present = ['kubernetes.io/pvc-protection'];
  assert.equal(await finalizers('persistentvolumeclaims', { finalizers: present }), present);
  assert.equal(await finalizers('persistentvolumeclaims/status'), undefined);
  assert.equal(await finalizers('pods'), undefined);
});

test('a pod gets its node’s zone and region', async () => {
  const zone = { 'topology.kubernetes.io/zone': 'z' };
  const store = storeOf({ nodes: [object('n1', {}, { labels: { ...zone, other: 'x' } }), object('n2')] });
  const labels = async (to: string, fields: Record<string, unknown>) =>
    (await admit(podTopologyLabels(store), { to, object: object('shop/web', fields, { labels: { a: 'b' } }) })).object
      .metadata.labels;
  const target = (name: string, kind = 'Node') => ({ target: { kind, name } });
  assert.deepEqual(await labels('pods', { spec: { nodeName: 'n1' } }), { a: 'b', ...zone });
  assert.deepEqual(await labels('pods', { spec: {} }), { a: 'b' });
  assert.deepEqual(await labels('pods/binding', target('n1')), { a: 'b', ...zone });
  assert.deepEqual(await labels('pods/binding', target('n2')), { a: 'b' });
  assert.deepEqual(await labels('pods/binding', target('n1', 'Other')), { a: 'b' });
});

test('a claim can be expanded only if its class allows it', async () => {
  const store = storeOf({
    'storageclasses.storage.k8s.io': [object('big', { allowVolumeExpansion: true }), object('fixed')],
  });
  const claim = (storage: string, storageClassName = 'big', phase = 'Bound') =>
    object('shop/data', { spec: { storageClassName, resources: { requests: { storage } } }, status: { phase } });
  const write = (oldObject: ReturnType<typeof claim>, one: ReturnType<typeof claim>) => ({
    to: 'persistentvolumeclaims',
    object: one,
    oldObject,
  });
  const plugin = persistentVolumeClaimResize(store);
  await admit(plugin, write(claim('1Gi'), claim('2Gi')));
  await admit(plugin, write(claim('1Gi', 'fixed', 'Pending'), claim('1024Mi', 'fixed')));
  const refusal =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
  await rejects(plugin, write(claim('1Gi', 'fixed'), claim('2Gi', 'fixed')), refusal);
  await rejects(plugin, write(claim('1Gi', ''), claim('2Gi', '')), refusal);
  await rejects(plugin, write(claim('1Gi', 'fixed'), claim('2Gi', 'big')), refusal);
  await rejects(
    plugin,
    write(claim('1Gi', 'big', 'Pending'), claim('2Gi')),
    'Only bound persistent volume claims can be expanded',
  );
});

test('a pod cannot be resized beyond its node’s capacity', async () => {
  const store = storeOf({ nodes: object('n1', { status: { allocatable: { cpu: '2', memory: '1Gi' } } }) });
  const pod = (requests: Record<string, string>, nodeName = 'n1') =>
    object('shop/web', { spec: { nodeName, containers: [{ resources: { requests } }] } });
  const write = (one: ReturnType<typeof pod>) => ({ to: 'pods/resize', object: one, oldObject: one });
  const plugin = podResizeValidator(store);
  await admit(plugin, write(pod({ cpu: '2', memory: '1Gi' })));
  await admit(plugin, write(pod({ cpu: '9' }, '')));
  await admit(plugin, { ...write(pod({ cpu: '9' })), to: 'pods' });
  const error = await rejects(
    plugin,
    write(pod({ cpu: '2001m', memory: '2Gi' })),
    "node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824",
  );
  assert.deepEqual(error.status.details?.causes, [{ reason: 'NodeCapacity' }]);
  await rejects(plugin, write(pod({}, 'none')), 'node "none" not found');
});
