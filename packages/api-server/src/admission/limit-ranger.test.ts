import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { LimitRanger } from './limit-ranger.ts';
import { admit, object, rejects, storeOf } from './test-admission.fixture.ts';

const plugin = (...limits: Record<string, unknown>[]) =>
  new LimitRanger(
    storeOf({ limitranges: limits.map((limit, index) => object(`shop/r${index}`, { spec: { limits: [limit] } })) }),
  );
type Resources = { requests?: Record<string, string>; limits?: Record<string, string> };
const container = (name: string, resources: Resources = {}, fields = {}) => ({ name, resources, ...fields });
const pod = (...containers: unknown[]) => object('shop/web', { spec: { containers } });
const create = (one: ApiObject, to = 'pods') => ({ to, object: one });

test('containers get default requests and limits, and the pod an annotation about them', async () => {
  const ranges = plugin({
    type: 'Container',
    default: { cpu: '1', memory: '1Gi' },
    defaultRequest: { memory: '64Mi', cpu: '100m' },
  });
  const one = object('shop/web', {
    spec: {
      containers: [container('a'), container('b', { requests: { cpu: '5m' }, limits: { cpu: '2', memory: '2Gi' } })],
      initContainers: [{ name: 'i' }],
    },
  });
  const { object: admitted } = await admit(ranges, create(one));
  const all = { requests: { memory: '64Mi', cpu: '100m' }, limits: { cpu: '1', memory: '1Gi' } };
  const spec = admitted.spec as { containers: { resources: Resources }[]; initContainers: { resources: Resources }[] };
  assert.deepEqual(
    spec.containers.map(({ resources }) => resources),
    [all, { requests: { cpu: '5m', memory: '64Mi' }, limits: { cpu: '2', memory: '2Gi' } }],
  );
  assert.deepEqual(spec.initContainers[0]!.resources, all);
  assert.deepEqual(admitted.metadata.annotations, {
    'kubernetes.io/limit-ranger':
      'LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; memory request for container b; cpu, memory request for init container i; cpu, memory limit for init container i',
  });
});

test('the first of several limit ranges wins', async () => {
  const ranges = plugin(
    { type: 'Container', default: { cpu: '1' } },
    { type: 'Container', default: { cpu: '2', memory: '1Gi' } },
  );
  const { object: admitted } = await admit(ranges, create(pod(container('a'))));
  const { containers } = admitted.spec as { containers: { resources: Resources }[] };
  assert.deepEqual(containers[0]!.resources, { limits: { cpu: '1', memory: '1Gi' } });
});

test('a pod without limit ranges, or with all amounts set, is unchanged', async () => {
  const one = pod(container('a', { limits: { cpu: '1' } }));
  for (const ranges of [
    plugin(),
    plugin({ type: 'Container', default: { cpu: '2' } }),
    plugin({ type: 'Pod', default: { cpu: '2' } }),
  ])
    assert.equal((await admit(ranges, create(one))).object, one);
});

test('amounts outside the container bounds are rejected', async () => {
  const check = (limit: Record<string, unknown>, resources: Resources, message: string | undefined) => {
    const write = create(pod(container('a', resources)));
    const ranges = plugin({ type: 'Container', ...limit });
    return message === undefined ? admit(ranges, write) : rejects(ranges, write, message);
  };
  const cpu = (request: string, limit: string): Resources => ({ requests: { cpu: request }, limits: { cpu: limit } });
  await check({ min: { cpu: '100m' } }, cpu('0.1', '100m'), undefined);
  await check(
    { min: { cpu: '100m' } },
    {},
    'pods "web" is forbidden: minimum cpu usage per Container is 100m.  No request is specified',
  );
  await check({ min: { cpu: '100m' } }, cpu('99m', '1'), 'minimum cpu usage per Container is 100m, but request is 99m');
  await check(
    { min: { memory: '1Gi' } },
    { requests: { memory: '1Gi' }, limits: { memory: '1G' } },
    'minimum memory usage per Container is 1Gi, but limit is 1G',
  );
  await check({ max: { cpu: '2' } }, cpu('2', '2000m'), undefined);
  await check(
    { max: { cpu: '2' } },
    { requests: { cpu: '1' } },
    'maximum cpu usage per Container is 2.  No limit is specified',
  );
  await check({ max: { cpu: '2' } }, cpu('1', '2001m'), 'maximum cpu usage per Container is 2, but limit is 2001m');
  await check({ max: { cpu: '2' } }, cpu('3', '2'), 'maximum cpu usage per Container is 2, but request is 3');
  await check({ maxLimitRequestRatio: { cpu: '1500m' } }, cpu('2', '3'), undefined);
  await check(
    { maxLimitRequestRatio: { cpu: '2' } },
    cpu('300m', '1'),
    'cpu max limit to request ratio per Container is 2, but provided ratio is 3.333333',
  );
  await check(
    { maxLimitRequestRatio: { cpu: '2' } },
    cpu('0', '1'),
    'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
  );
  await check(
    { maxLimitRequestRatio: { cpu: '2' } },
    { requests: { cpu: '1' } },
    'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
  );
  await check(
    { max: { memory: '1Gi', cpu: '1' } },
    {},
    '[maximum cpu usage per Container is 1.  No limit is specified, maximum memory usage per Container is 1Gi.  No limit is specified]',
  );
});

test('pod bounds apply to the total of its containers', async () => {
  const ranges = plugin({ type: 'Pod', max: { cpu: '2' } });
  const cpu = (limit: string, fields = {}) => container('a', { limits: { cpu: limit } }, fields);
  const withInit = (init: unknown[], ...containers: unknown[]) =>
    create(object('shop/web', { spec: { containers, initContainers: init } }));
  const over = (limit: string) => `maximum cpu usage per Pod is 2, but limit is ${limit}`;
  await admit(ranges, withInit([cpu('2'), cpu('2')], cpu('1'), cpu('1')));
  await rejects(ranges, withInit([], cpu('1'), cpu('1001m')), over('2001m'));
  await rejects(ranges, withInit([cpu('3')], cpu('1')), over('3'));
  await rejects(ranges, withInit([cpu('1', { restartPolicy: 'Always' }), cpu('2')], cpu('1')), over('3'));
  await rejects(ranges, withInit([cpu('1', { restartPolicy: 'Always' })], cpu('2')), over('3'));
  const atPodLevel = object('shop/web', { spec: { containers: [cpu('3')], resources: { limits: { cpu: '2' } } } });
  await admit(ranges, create(atPodLevel));
});

test('claims are bounded by their requests', async () => {
  const ranges = plugin({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } });
  const claim = (storage: string) => object('shop/data', { spec: { resources: { requests: { storage } } } });
  await admit(ranges, create(claim('10Gi'), 'persistentvolumeclaims'));
  await rejects(
    ranges,
    create(claim('11Gi'), 'persistentvolumeclaims'),
    'maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi',
  );
  await rejects(
    ranges,
    create(claim('1G'), 'persistentvolumeclaims'),
    'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1G',
  );
});

test('resizes are checked, other updates and pods that are being deleted are not', async () => {
  const ranges = plugin({ type: 'Container', max: { cpu: '1' } });
  const large = pod(container('a', { limits: { cpu: '2' } }));
  const deleting = { ...large, metadata: { ...large.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  await rejects(
    ranges,
    { to: 'pods/resize', object: large, oldObject: large },
    'maximum cpu usage per Container is 1, but limit is 2',
  );
  await admit(ranges, { to: 'pods/resize', object: large, oldObject: deleting });
  await admit(ranges, { to: 'pods', object: large, oldObject: large });
  await admit(ranges, { to: 'pods/status', object: large, oldObject: large });
});
