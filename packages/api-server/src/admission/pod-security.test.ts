import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violatingPods } from './pod-security/namespace-check.ts';
import { formatLevel, PRIVILEGED, policyOf } from './pod-security/policy.ts';
import { PodSecurity } from './pod-security.ts';
import { admit, object, put, rejects, storeOf } from './test-admission.fixture.ts';

const labelled = (labels: Record<string, string>) =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value]));
const namespace = (name: string, labels: Record<string, string> = {}) => object(name, {}, { labels: labelled(labels) });

const store = storeOf({
  namespaces: [
    namespace('free'),
    namespace('base', { enforce: 'baseline', 'enforce-version': 'v1.36', warn: 'restricted' }),
    namespace('warned', { warn: 'baseline' }),
    namespace('odd', { enforce: 'strict' }),
  ],
});
const plugin = new PodSecurity({
  store,
  exemptions: { namespaces: ['exempt'], usernames: ['root'], runtimeClasses: ['kata'] },
});

const SPEC = {
  hostNetwork: true,
  containers: [
    { name: 'a', image: 'x', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
  ],
};
const pod = (where: string, spec: Record<string, unknown> = SPEC, metadata = {}) =>
  object(`${where}/web`, { spec }, metadata);
const HOST = 'host namespaces (hostNetwork=true)';

test('a pod that violates the enforce level is rejected', async () => {
  await rejects(
    plugin,
    { to: 'pods', object: pod('base') },
    `pods "web" is forbidden: violates PodSecurity "baseline:v1.36": ${HOST}`,
  );
  await admit(plugin, { to: 'pods', object: pod('free') });
  await rejects(
    plugin,
    { to: 'pods', object: pod('none') },
    'Internal error occurred: failed to lookup namespace "none"',
  );
});

test('a pod that violates the warn level is admitted with a warning', async () => {
  const { warnings } = await admit(plugin, { to: 'pods', object: pod('warned') });
  assert.deepEqual(warnings, [`would violate PodSecurity "baseline:latest": ${HOST}`]);
  const restricted = await admit(plugin, { to: 'pods', object: pod('base', { ...SPEC, hostNetwork: false }) });
  assert.deepEqual(restricted.warnings, [
    'would violate PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ]);
});

test('an invalid label enforces the most restrictive level', async () => {
  await rejects(
    plugin,
    { to: 'pods', object: pod('odd', { containers: [], hostPID: true }) },
    'violates PodSecurity "restricted:latest": host namespaces (hostPID=true)',
  );
});

test('updates are checked if containers are added or images change', async () => {
  const update = (spec: Record<string, unknown>) => ({
    to: 'pods',
    object: pod('base', { ...SPEC, ...spec }),
    oldObject: pod('base'),
  });
  const refusal = `violates PodSecurity "baseline:v1.36": ${HOST}`;
  await admit(plugin, update({ activeDeadlineSeconds: 5 }));
  await rejects(plugin, update({ containers: [{ name: 'a', image: 'y' }] }), refusal);
  const debugging = { ...update({ ephemeralContainers: [{ name: 'd', image: 'x' }] }), to: 'pods/ephemeralcontainers' };
  await rejects(plugin, debugging, refusal);
  await admit(plugin, { ...debugging, oldObject: debugging.object });
  await admit(plugin, { ...update({ containers: [] }), to: 'pods/status' });
  await admit(plugin, { to: 'pods/exec', operation: 'CONNECT', object: pod('base') });
});

test('pod templates of workloads only cause warnings', async () => {
  const template = { metadata: {}, spec: SPEC };
  const check = async (to: string, fields: Record<string, unknown>, where = 'warned') =>
    (await admit(plugin, { to, object: object(`${where}/x`, fields) })).warnings.length;
  assert.equal(await check('deployments.apps', { spec: { template } }), 1);
  assert.equal(await check('podtemplates', { template }), 1);
  assert.equal(await check('cronjobs.batch', { spec: { jobTemplate: { spec: { template } } } }), 1);
  assert.equal(await check('deployments.apps', { spec: { template } }, 'free'), 0);
  assert.equal(await check('deployments.apps', { spec: { template } }, 'none'), 0);
  assert.equal(await check('replicationcontrollers', { spec: {} }), 0);
  assert.equal(await check('deployments.apps/scale', { spec: { template } }), 0);
});

test('exempt namespaces, users and runtime classes are not checked', async () => {
  await admit(plugin, { to: 'pods', object: pod('exempt') });
  await admit(plugin, { to: 'pods', object: pod('base'), user: { username: 'root', groups: [] } });
  await admit(plugin, { to: 'pods', object: pod('base', { ...SPEC, runtimeClassName: 'kata' }) });
});

test('labels of a namespace are validated', async () => {
  const create = (labels: Record<string, string>) => ({ to: 'namespaces', object: namespace('new', labels) });
  const error = await rejects(
    plugin,
    create({ enforce: 'strict', 'warn-version': '1.36', audit: 'x' }),
    'Namespace "new" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: "x": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.36": must be "latest" or "v1.x"]',
  );
  assert.equal(error.status.code, 422);
  const odd = namespace('odd', { enforce: 'strict' });
  await admit(plugin, { to: 'namespaces', object: odd, oldObject: odd });
  await admit(plugin, create({ enforce: 'restricted', 'enforce-version': 'v1.0', audit: 'baseline' }));
});

test('existing pods that violate a stricter level cause warnings', async () => {
  const owner = (uid: string) => ({ ownerReferences: [{ controller: true, uid }] });
  for (const [name, spec, metadata] of [
    ['c', SPEC, owner('1')],
    ['b', SPEC, owner('1')],
    ['a', { ...SPEC, hostPID: true }, {}],
    ['d', { containers: [] }, {}],
    ['e', { ...SPEC, runtimeClassName: 'kata' }, {}],
    ['f', { containers: [{ name: 'x', securityContext: { privileged: true } }] }, {}],
  ] as const)
    put(store, 'pods', object(`free/${name}`, { spec }, metadata));
  const warnings = async (labels: Record<string, string>, old: Record<string, string> = {}, name = 'free') =>
    (await admit(plugin, { to: 'namespaces', object: namespace(name, labels), oldObject: namespace(name, old) }))
      .warnings;
  const expected = [
    'existing pods in namespace "free" violate the new PodSecurity enforce level "baseline:latest"',
    'a (and 2 other pods): host namespaces',
    'f: privileged',
  ];
  assert.deepEqual(await warnings({ enforce: 'baseline' }), expected);
  assert.deepEqual(await warnings({ enforce: 'baseline' }, { enforce: 'restricted' }), []);
  assert.equal(
    (await warnings({ enforce: 'baseline', 'enforce-version': 'v1.36' }, { enforce: 'restricted' })).length,
    3,
  );
  assert.deepEqual(await warnings({ enforce: 'baseline' }, { enforce: 'baseline' }), []);
  assert.deepEqual(await warnings({ enforce: 'privileged' }, {}), []);
  assert.deepEqual(await warnings({ enforce: 'baseline' }, {}, 'exempt'), []);
});

test('if there are many pods, one per controller is checked first', () => {
  const owner = { ownerReferences: [{ controller: true, uid: '1' }] };
  const replicas = Array.from({ length: 3000 }, (_, index) => object(`free/r${index}`, { spec: {} }, owner));
  const level = { level: 'baseline', version: 36 } as const;
  const pods = [...replicas, object('free/single', { spec: { hostPID: true } })];
  assert.deepEqual(violatingPods('free', level, pods), [
    'new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods',
    'existing pods in namespace "free" violate the new PodSecurity enforce level "baseline:v1.36"',
    'single: host namespaces',
  ]);
});

test('the policy of a namespace is derived from its labels', () => {
  const check = (labels: Record<string, string>, enforce: string, warn: string) => {
    const { policy } = policyOf(labelled(labels), PRIVILEGED);
    assert.deepEqual([formatLevel(policy.enforce), formatLevel(policy.warn)], [enforce, warn]);
  };
  const free = 'privileged:latest';
  check({}, free, free);
  check({ enforce: 'baseline' }, 'baseline:latest', 'baseline:latest');
  check({ enforce: 'baseline', 'enforce-version': 'v1.20' }, 'baseline:v1.20', 'baseline:v1.20');
  check(
    { enforce: 'baseline', 'enforce-version': 'v1.20', 'warn-version': 'v1.22' },
    'baseline:v1.20',
    'baseline:v1.22',
  );
  check({ enforce: 'restricted', warn: 'baseline' }, 'restricted:latest', 'baseline:latest');
  check({ enforce: 'restricted', warn: 'x' }, 'restricted:latest', free);
  check({ enforce: 'x' }, 'restricted:latest', free);
  check({ enforce: 'baseline', 'enforce-version': 'v2.0' }, 'baseline:latest', 'baseline:latest');
  check({ warn: 'restricted', 'warn-version': 'v1.999' }, free, 'restricted:v1.999');
});
