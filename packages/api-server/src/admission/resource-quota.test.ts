import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { pause, silentLogger, waitFor } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import { keepQuotaStatus, type QuotaStatus } from './quota-status.ts';
import { ResourceQuotaAdmission } from './resource-quota.ts';
import { admit, object, put, rejects, storeOf } from './test-admission.fixture.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const quota = (hard: Record<string, string>, spec: Record<string, unknown> = {}) =>
  object('shop/q', { spec: { hard, ...spec } });

const QUOTA_KEY = { resource: 'resourcequotas', namespace: 'shop', name: 'q' };

/**
 * Returns a store with a quota and other objects of a namespace, a clock that tests can set, and a quota admission plugin that uses both.
 */
function namespace(one: ApiObject, objects: Record<string, ApiObject | ApiObject[]> = {}) {
  const store = storeOf({ resourcequotas: one, ...objects });
  const clock = { nowMs: NOW };
  return { store, clock, plugin: new ResourceQuotaAdmission({ store, now: () => clock.nowMs }) };
}

type Resources = { requests?: Record<string, string>; limits?: Record<string, string> };
const pod = (name: string, resources: Resources = {}, spec: Record<string, unknown> = {}) =>
  object(`shop/${name}`, { spec: { containers: [{ name: 'a', resources }], ...spec } });
const exceeded = (requested: string, used: string, limited: string) =>
  `exceeded quota: q, requested: ${requested}, used: ${used}, limited: ${limited}`;

test('deleted objects and failed writes do not count', async () => {
  const { plugin, store } = namespace(quota({ pods: '1' }));
  const key = { resource: 'pods', namespace: 'shop', name: 'a' };
  await admit(plugin, { to: 'pods', object: pod('a') });
  put(store, 'pods', pod('a'));
  store.delete(key, store.get(key)!.revision);
  await setImmediate();
  await admit(plugin, { to: 'pods', object: pod('b') });
  await rejects(plugin, { to: 'pods', object: pod('c') }, exceeded('pods=1', 'pods=1', 'pods=1'));
  await setImmediate();
  await admit(plugin, { to: 'pods', object: pod('c') });
});

test('objects are counted in the store', async () => {
  const { plugin, store } = namespace(quota({ pods: '2', 'count/deployments.apps': '1', secrets: '1' }), {
    pods: pod('a'),
    secrets: object('shop/s'),
    'deployments.apps': object('other/d'),
  });
  await admit(plugin, { to: 'pods', object: pod('b') });
  put(store, 'pods', pod('b'));
  await rejects(
    plugin,
    { to: 'pods', object: pod('c') },
    `pods "c" is forbidden: ${exceeded('pods=1', 'pods=2', 'pods=2')}`,
  );
  store.delete(
    { resource: 'pods', namespace: 'shop', name: 'a' },
    store.get({ resource: 'pods', namespace: 'shop', name: 'a' })!.revision,
  );
  await admit(plugin, { to: 'pods', object: pod('c') });
  await admit(plugin, { to: 'deployments.apps', object: object('shop/d') });
  await rejects(plugin, { to: 'secrets', object: object('shop/t') }, exceeded('secrets=1', 'secrets=1', 'secrets=1'));
  await admit(plugin, { to: 'pods', object: object('other/x', { spec: { containers: [] } }) });
  await admit(plugin, { to: 'events', object: object('shop/e') });
});

test('writes in flight count until they succeed or fail', async () => {
  const { plugin, store } = namespace(quota({ pods: '2' }));
  await admit(plugin, { to: 'pods', object: pod('a'), dryRun: true });
  await admit(plugin, { to: 'pods', object: pod('a') });
  await admit(plugin, { to: 'pods', object: pod('a') }); // the same write again
  await admit(plugin, { to: 'pods', object: pod('b') });
  const refusal = exceeded('pods=1', 'pods=2', 'pods=2');
  await rejects(plugin, { to: 'pods', object: pod('c') }, refusal);
  put(store, 'pods', pod('a'));
  await rejects(plugin, { to: 'pods', object: pod('c') }, refusal);
  await setImmediate(); // b was never written
  await admit(plugin, { to: 'pods', object: pod('c') });
});

test('requests and limits of pods are summed, including overhead and extended resources', async () => {
  const hard = { 'requests.cpu': '1', memory: '1Gi', 'limits.memory': '2Gi', 'requests.acme.com/gpu': '1' };
  const resources = { requests: { cpu: '600m', memory: '512Mi' }, limits: { memory: '1Gi', cpu: '1' } };
  const { plugin } = namespace(quota(hard), { pods: pod('a', resources) });
  await rejects(
    plugin,
    { to: 'pods', object: pod('b', { requests: { cpu: '0.5', memory: '1Gi' }, limits: { memory: '1Gi' } }) },
    exceeded('memory=1Gi,requests.cpu=500m', 'memory=512Mi,requests.cpu=600m', 'memory=1Gi,requests.cpu=1'),
  );
  const small = { requests: { cpu: '400m', memory: '1Mi' }, limits: { memory: '1Mi' } };
  await admit(plugin, { to: 'pods', object: pod('b', small), dryRun: true });
  await rejects(
    plugin,
    { to: 'pods', object: pod('b', small, { overhead: { cpu: '1m' } }) },
    exceeded('requests.cpu=401m', 'requests.cpu=600m', 'requests.cpu=1'),
  );
  const gpus = { ...small, requests: { ...small.requests, 'acme.com/gpu': '2' } };
  await rejects(
    plugin,
    { to: 'pods', object: pod('b', gpus) },
    exceeded('requests.acme.com/gpu=2', 'requests.acme.com/gpu=0', 'requests.acme.com/gpu=1'),
  );
});

test('containers must set the resources limited by a quota, unless the pod does', async () => {
  const { plugin } = namespace(quota({ 'limits.cpu': '4', memory: '1Gi', 'requests.ephemeral-storage': '1Gi' }));
  const spec = {
    containers: [{ name: 'b', resources: { requests: { memory: '1' } } }, { name: 'a' }],
    initContainers: [{ name: 'c' }],
  };
  await rejects(
    plugin,
    { to: 'pods', object: object('shop/x', { spec }) },
    'failed quota: q: must specify limits.cpu for: a,b,c; memory for: a,c',
  );
  await admit(plugin, {
    to: 'pods',
    object: object('shop/x', { spec: { ...spec, resources: { limits: { cpu: '1' } } } }),
  });
});

test('terminated pods are not charged', async () => {
  const ended = { ...pod('a'), status: { phase: 'Succeeded' } };
  const lost = object(
    'shop/b',
    { spec: { containers: [] } },
    { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 },
  );
  const { plugin, clock } = namespace(quota({ pods: '1', 'count/pods': '3' }), { pods: [ended, lost] });
  await rejects(plugin, { to: 'pods', object: pod('c') }, exceeded('pods=1', 'pods=1', 'pods=1'));
  clock.nowMs += 31_000;
  await admit(plugin, { to: 'pods', object: pod('c') });
  await rejects(
    plugin,
    { to: 'pods', object: pod('d') },
    exceeded('count/pods=1,pods=1', 'count/pods=3,pods=1', 'count/pods=3,pods=1'),
  );
});

test('a quota with scopes applies to pods that match all of them', async () => {
  const check = async (spec: Record<string, unknown>, inside: ApiObject, outside: ApiObject) => {
    const { plugin } = namespace(quota({ pods: '0' }, spec), { pods: outside });
    await rejects(plugin, { to: 'pods', object: inside }, exceeded('pods=1', 'pods=0', 'pods=0'));
    await admit(plugin, { to: 'pods', object: outside });
  };
  const burstable = { requests: { cpu: '1' } };
  const brief = { activeDeadlineSeconds: 5 };
  await check({ scopes: ['BestEffort'] }, pod('a'), pod('b', burstable));
  await check({ scopes: ['NotBestEffort'] }, pod('a', burstable), pod('b'));
  await check({ scopes: ['Terminating'] }, pod('a', {}, brief), pod('b'));
  await check({ scopes: ['NotTerminating', 'BestEffort'] }, pod('a'), pod('b', {}, brief));
  const affinity = {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { namespaces: ['x'] } }],
      },
    },
  };
  await check({ scopes: ['CrossNamespacePodAffinity'] }, pod('a', {}, affinity), pod('b'));
  const selecting = (operator: string, ...values: string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] },
  });
  const high = pod('a', {}, { priorityClassName: 'high' });
  await check(selecting('In', 'high'), high, pod('b', {}, { priorityClassName: 'low' }));
  await check(selecting('NotIn', 'low'), pod('b'), pod('a', {}, { priorityClassName: 'low' }));
  await check(selecting('Exists'), high, pod('b'));
  await check(selecting('DoesNotExist'), pod('b'), high);
});

test('updates are charged for the difference', async () => {
  const small = pod('a', { requests: { cpu: '1' } });
  const { plugin, store } = namespace(quota({ 'requests.cpu': '2' }), { pods: small });
  const resize = (cpu: string) => ({ to: 'pods/resize', object: pod('a', { requests: { cpu } }), oldObject: small });
  await admit(plugin, resize('2'));
  await rejects(plugin, resize('3'), exceeded('requests.cpu=2', 'requests.cpu=1', 'requests.cpu=2'));
  await rejects(
    plugin,
    { to: 'pods', object: pod('b', { requests: { cpu: '1' } }) },
    exceeded('requests.cpu=1', 'requests.cpu=2', 'requests.cpu=2'),
  );
  put(store, 'pods', pod('a', { requests: { cpu: '2' } }));
  await admit(plugin, { ...resize('1'), oldObject: pod('a', { requests: { cpu: '2' } }) });
  await admit(plugin, { to: 'pods/status', object: pod('a', { requests: { cpu: '9' } }), oldObject: small });
});

test('during a resize, a container is charged the largest of its wanted, actual and allocated amounts', async () => {
  const resources = (cpu: string, memory: string) => ({ requests: { cpu }, limits: { memory } });
  const held = (name: string, cpu: string, memory: string) => ({
    name,
    allocatedResources: { cpu },
    resources: resources('1', memory),
  });
  const side = { name: 'side', restartPolicy: 'Always', resources: resources('1', '1Gi') };
  const init = { name: 'init', resources: resources('1', '1Gi') };
  const resized = (status: Record<string, unknown>) => ({
    ...pod('a', resources('2', '2Gi'), { initContainers: [side, init] }),
    status: {
      containerStatuses: [held('a', '3', '1Gi')],
      initContainerStatuses: [held('side', '1', '4Gi'), held('init', '9', '9Gi')],
      ...status,
    },
  });
  const used = async (status: Record<string, unknown>) => {
    const { plugin } = namespace(quota({ 'requests.cpu': '1m', 'limits.memory': '1' }), { pods: resized(status) });
    const error = await admit(plugin, { to: 'pods', object: pod('b', resources('1', '1')) }).then(
      () => '',
      (reason: unknown) => String(reason),
    );
    return /used: (\S+), limited/.exec(error)?.[1];
  };
  assert.equal(await used({}), 'limits.memory=6Gi,requests.cpu=4');
  const infeasible = { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] };
  assert.equal(await used(infeasible), 'limits.memory=5Gi,requests.cpu=4');
  assert.equal(await used({ containerStatuses: [] }), 'limits.memory=6Gi,requests.cpu=3');
  assert.equal(
    await used({ containerStatuses: undefined, initContainerStatuses: [] }),
    'limits.memory=3Gi,requests.cpu=3',
  );
});

test('an update that reduces usage lowers it only once written', async () => {
  const large = pod('a', { requests: { cpu: '2' } });
  const { plugin } = namespace(quota({ 'requests.cpu': '2' }), { pods: large });
  await admit(plugin, { to: 'pods/resize', object: pod('a', { requests: { cpu: '1' } }), oldObject: large });
  const write = { to: 'pods', object: pod('b', { requests: { cpu: '1' } }) };
  await rejects(plugin, write, exceeded('requests.cpu=1', 'requests.cpu=2', 'requests.cpu=2'));
});

test('objects that do not use a resource are admitted even if its quota is exceeded', async () => {
  const service = (name: string, type: string) => object(`shop/${name}`, { spec: { type, ports: [{ port: 1 }] } });
  const { plugin } = namespace(quota({ 'services.nodeports': '0' }), { services: service('a', 'NodePort') });
  await admit(plugin, { to: 'services', object: service('b', 'ClusterIP') });
});

test('an update that brings an object under a quota is charged in full', async () => {
  const plain = pod('a');
  const { plugin } = namespace(quota({ pods: '0' }, { scopes: ['Terminating'] }), { pods: plain });
  await rejects(
    plugin,
    { to: 'pods', object: pod('a', {}, { activeDeadlineSeconds: 5 }), oldObject: plain },
    exceeded('pods=1', 'pods=0', 'pods=0'),
  );
});

test('an update under way by which a quota begins to apply counts in full', async () => {
  const [a, b] = [pod('a'), pod('b')];
  const { plugin } = namespace(quota({ pods: '1' }, { scopes: ['Terminating'] }), { pods: [a, b] });
  const end = (name: string, oldObject: ApiObject) => ({
    to: 'pods',
    object: pod(name, {}, { activeDeadlineSeconds: 5 }),
    oldObject,
  });
  await admit(plugin, end('a', a));
  await rejects(plugin, end('b', b), exceeded('pods=1', 'pods=1', 'pods=1'));
});

test('claims are charged by count, storage and class', async () => {
  const claim = (name: string, storage: string, storageClassName = 'gold', status = {}) =>
    object(`shop/${name}`, { spec: { storageClassName, resources: { requests: { storage } } }, status });
  const hard = {
    persistentvolumeclaims: '3',
    'requests.storage': '10Gi',
    'gold.storageclass.storage.k8s.io/requests.storage': '5Gi',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
  };
  const { plugin } = namespace(quota(hard), {
    persistentvolumeclaims: claim('a', '1Gi', 'iron', { allocatedResources: { storage: '3Gi' } }),
  });
  const to = 'persistentvolumeclaims';
  await admit(plugin, { to, object: claim('b', '5Gi'), dryRun: true });
  await rejects(
    plugin,
    { to, object: claim('b', '6Gi') },
    exceeded(
      'gold.storageclass.storage.k8s.io/requests.storage=6Gi',
      'gold.storageclass.storage.k8s.io/requests.storage=0',
      'gold.storageclass.storage.k8s.io/requests.storage=5Gi',
    ),
  );
  await rejects(
    plugin,
    { to, object: claim('b', '8Gi', 'iron') },
    exceeded('requests.storage=8Gi', 'requests.storage=3Gi', 'requests.storage=10Gi'),
  );
  await rejects(
    plugin,
    { to, object: claim('a', '11Gi', 'iron'), oldObject: claim('a', '1Gi', 'iron') },
    exceeded('requests.storage=10Gi', 'requests.storage=3Gi', 'requests.storage=10Gi'),
  );
});

test('Services are charged by count, node ports and load balancers', async () => {
  const service = (type: string, fields = {}) =>
    object('shop/s', { spec: { type, ports: [{ port: 1 }, { port: 2, nodePort: 30000 }], ...fields } });
  const check = async (hard: string, one: ApiObject, amount: string | undefined) => {
    const { plugin } = namespace(quota({ [hard]: '0' }));
    if (amount === undefined) await admit(plugin, { to: 'services', object: one });
    else
      await rejects(plugin, { to: 'services', object: one }, exceeded(`${hard}=${amount}`, `${hard}=0`, `${hard}=0`));
  };
  await check('services', service('ClusterIP'), '1');
  await check('services.nodeports', service('ClusterIP'), undefined);
  await check('services.nodeports', service('NodePort'), '2');
  await check('services.nodeports', service('LoadBalancer'), '2');
  await check('services.nodeports', service('LoadBalancer', { allocateLoadBalancerNodePorts: false }), '1');
  await check('services.loadbalancers', service('LoadBalancer'), '1');
  await check('services.loadbalancers', service('NodePort'), undefined);
});

test('the status of a quota tracks the usage', async (t) => {
  const { store } = namespace(
    quota({ pods: '5', 'requests.cpu': '2', 'count/leases.coordination.k8s.io': '9', 'count/unknown.x': '1' }),
    { pods: pod('a', { requests: { cpu: '500m' } }) },
  );
  const listed = new Set<string>();
  const list = store.list.bind(store);
  store.list = (resource, options) => list(listed.add(resource) && resource, options);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const key = QUOTA_KEY;
  const kept = keepQuotaStatus(
    {
      store,
      isServed: (resource) => resource !== 'unknown.x',
      setStatus: async (one, status) => void store.update(key, { ...one, status }, store.get(key)!.revision),
      now: () => NOW,
      logger: silentLogger,
    },
    stop.signal,
  );
  const becomes = (used: Record<string, string>) =>
    waitFor(
      () => {
        const status = store.get(key)!.decode().status as QuotaStatus | undefined;
        return JSON.stringify(status?.used) === JSON.stringify(used) || undefined;
      },
      { intervalMs: 5, signal: AbortSignal.timeout(10_000) },
    );
  const rest = () => pause(500, stop.signal); // until only the watches are left to notice a change
  const zero = { 'count/leases.coordination.k8s.io': '0', 'count/unknown.x': '0' };
  await becomes({ pods: '1', 'requests.cpu': '500m', ...zero });
  await rest();
  put(store, 'leases.coordination.k8s.io', object('shop/l'));
  await becomes({ pods: '1', 'requests.cpu': '500m', ...zero, 'count/leases.coordination.k8s.io': '1' });
  await rest();
  put(store, 'pods', pod('b', { requests: { cpu: '1' } }));
  await becomes({ pods: '2', 'requests.cpu': '1500m', ...zero, 'count/leases.coordination.k8s.io': '1' });
  assert.deepEqual((store.get(key)!.decode().status as QuotaStatus).hard, {
    pods: '5',
    'requests.cpu': '2',
    'count/leases.coordination.k8s.io': '9',
    'count/unknown.x': '1',
  });
  assert.deepEqual([...listed].sort(), ['leases.coordination.k8s.io', 'pods', 'resourcequotas']);
  stop.abort();
  await kept;
});

test('a failure does not stop status updates', async (t) => {
  const { store } = namespace(quota({ pods: '2' }), { pods: pod('a') });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const warnings: string[] = [];
  let failures = 1;
  const parts = {
    store,
    isServed: () => {
      if (failures-- > 0) throw new Error('no');
      return true;
    },
    setStatus: async (one: ApiObject, status: QuotaStatus) =>
      void store.update(QUOTA_KEY, { ...one, status }, store.get(QUOTA_KEY)!.revision),
    now: () => NOW,
    logger: { warn: (_: object, message: string) => void warnings.push(message) } as never,
  };
  const kept = keepQuotaStatus(parts, stop.signal);
  const status = () => store.get(QUOTA_KEY)!.decode().status as QuotaStatus | undefined;
  await waitFor(() => status()?.used.pods, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
  assert.deepEqual(warnings, ['update the status of quotas failed, trying again']);
  stop.abort();
  await kept;
});
