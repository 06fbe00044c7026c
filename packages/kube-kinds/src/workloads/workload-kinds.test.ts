import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api-object.ts';
import { valueAt } from '../values.ts';
import {
  created,
  createErrors,
  set,
  strategyOf,
  type TestObject,
  updateErrors,
  updateSubresource,
  withDefaults,
  workload,
} from './strategy-checks.fixture.ts';

const DEPLOYMENT = workload('apps/v1', 'Deployment');
const REPLICA_SET = workload('apps/v1', 'ReplicaSet');
const STATEFUL_SET = workload('apps/v1', 'StatefulSet', { serviceName: 'web' });
const DAEMON_SET = workload('apps/v1', 'DaemonSet');
const CONTROLLER = workload('v1', 'ReplicationController', { selector: { app: 'web' } });
const change = (changes: Record<string, unknown>) => (object: ApiObject) => set(object, changes);

const TEMPLATE_LABELS =
  'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`';
const ALWAYS = 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"';
const NO_SELECTOR = 'spec.selector: Required value';

type Row = readonly [resource: string, object: TestObject, changes: Record<string, unknown>, errors: readonly string[]];

const ROWS: readonly Row[] = [
  ['deployments.apps', DEPLOYMENT, {}, []],
  ['replicasets.apps', REPLICA_SET, {}, []],
  ['statefulsets.apps', STATEFUL_SET, {}, []],
  ['daemonsets.apps', DAEMON_SET, {}, []],
  ['replicationcontrollers', CONTROLLER, {}, []],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.replicas': -1 },
    ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'statefulsets.apps',
    STATEFUL_SET,
    { 'spec.replicas': -1 },
    ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'replicationcontrollers',
    CONTROLLER,
    { 'spec.replicas': -1 },
    ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ],
  ['deployments.apps', DEPLOYMENT, { 'spec.template.metadata.labels': { app: 'x' } }, [TEMPLATE_LABELS]],
  ['replicasets.apps', REPLICA_SET, { 'spec.template.metadata.labels': { app: 'x' } }, [TEMPLATE_LABELS]],
  ['statefulsets.apps', STATEFUL_SET, { 'spec.template.metadata.labels': { app: 'x' } }, [TEMPLATE_LABELS]],
  ['daemonsets.apps', DAEMON_SET, { 'spec.template.metadata.labels': { app: 'x' } }, [TEMPLATE_LABELS]],
  ['replicationcontrollers', CONTROLLER, { 'spec.template.metadata.labels': { app: 'x' } }, [TEMPLATE_LABELS]],
  ['deployments.apps', DEPLOYMENT, { 'spec.template.spec.restartPolicy': 'Never' }, [ALWAYS]],
  ['statefulsets.apps', STATEFUL_SET, { 'spec.template.spec.restartPolicy': 'Never' }, [ALWAYS]],
  ['daemonsets.apps', DAEMON_SET, { 'spec.template.spec.restartPolicy': 'Never' }, [ALWAYS]],
  [
    'replicationcontrollers',
    CONTROLLER,
    { 'spec.template.spec.activeDeadlineSeconds': 1 },
    [
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
    ],
  ],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.selector': undefined },
    [
      NO_SELECTOR,
      'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ],
  ],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.selector': {} },
    ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  ],
  [
    'statefulsets.apps',
    STATEFUL_SET,
    { 'spec.selector': {} },
    ['spec.selector: Invalid value: {}: empty selector is invalid for statefulset'],
  ],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.selector': { matchExpressions: [{ key: 'a', operator: 'x' }] } },
    [
      'spec.selector.matchExpressions[0].operator: Invalid value: "x": not a valid selector operator',
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"x"}]}: invalid label selector',
    ],
  ],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.strategy': { type: 'x' } },
    [
      'spec.strategy: Unsupported value: {"Type":"x","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.strategy': { type: 'Recreate', rollingUpdate: {} } },
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.strategy.rollingUpdate': { maxUnavailable: '101%', maxSurge: 'x' } },
    [
      "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
    ],
  ],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.strategy.rollingUpdate': { maxUnavailable: 0, maxSurge: '0%' } },
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
  ],
  [
    'deployments.apps',
    DEPLOYMENT,
    { 'spec.progressDeadlineSeconds': 5, 'spec.minReadySeconds': 5 },
    ['spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds'],
  ],
  [
    'daemonsets.apps',
    DAEMON_SET,
    { 'spec.updateStrategy.rollingUpdate': { maxUnavailable: 0, maxSurge: 0 } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  ],
  [
    'daemonsets.apps',
    DAEMON_SET,
    { 'spec.updateStrategy.rollingUpdate': { maxUnavailable: 1, maxSurge: 1 } },
    ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero'],
  ],
  [
    'statefulsets.apps',
    STATEFUL_SET,
    { 'spec.podManagementPolicy': 'x', 'spec.updateStrategy': { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    [
      "spec.podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'",
      'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
    ],
  ],
  [
    'statefulsets.apps',
    STATEFUL_SET,
    { 'spec.volumeClaimTemplates': [{ metadata: { name: 'data' }, spec: {} }] },
    [
      'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ],
  ],
  ['replicationcontrollers', CONTROLLER, { 'spec.template': undefined }, ['spec.template: Required value']],
];

for (const [resource, object, changes, errors] of ROWS)
  test(`${resource} with ${JSON.stringify(changes)} is validated as by upstream`, () => {
    assert.deepEqual(createErrors(resource, set(object, changes)), errors);
  });

test('workloads get upstream’s defaults', () => {
  const spec = (resource: string, object: TestObject) => {
    const { template: _, selector: __, ...others } = withDefaults(resource, object).spec as Record<string, unknown>;
    return others;
  };
  assert.deepEqual(spec('deployments.apps', DEPLOYMENT), {
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
  assert.deepEqual(spec('daemonsets.apps', DAEMON_SET), {
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  });
  assert.deepEqual(spec('statefulsets.apps', STATEFUL_SET), {
    replicas: 1,
    serviceName: 'web',
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  });
  const template = valueAt(withDefaults('deployments.apps', DEPLOYMENT), 'spec', 'template', 'spec');
  assert.equal(valueAt(template, 'enableServiceLinks'), undefined);
  assert.equal(valueAt(template, 'terminationGracePeriodSeconds'), 30);
});

test('template limits do not become requests', () => {
  const limited = set(DEPLOYMENT, { 'spec.template.spec.containers.0.resources': { limits: { cpu: '1' } } });
  const resources = valueAt(
    withDefaults('deployments.apps', limited),
    'spec',
    'template',
    'spec',
    'containers',
    0,
    'resources',
  );
  assert.deepEqual(resources, { limits: { cpu: '1' } });
});

test('a ReplicationController’s selector and labels default to those of its template', () => {
  const plain = set(CONTROLLER, { 'spec.selector': undefined });
  const { spec, metadata } = withDefaults('replicationcontrollers', plain);
  assert.deepEqual(valueAt(spec, 'selector'), { app: 'web' });
  assert.deepEqual(metadata.labels, { app: 'web' });
});

test('a StatefulSet’s claims count as volumes of its pods', () => {
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const mounted = set(STATEFUL_SET, {
    'spec.volumeClaimTemplates': [claim],
    'spec.template.spec.containers.0.volumeMounts': [{ name: 'data', mountPath: '/data' }],
  });
  assert.deepEqual(createErrors('statefulsets.apps', mounted), []);
  const stored = valueAt(created('statefulsets.apps', mounted), 'spec', 'volumeClaimTemplates', 0);
  assert.equal(valueAt(stored, 'kind'), 'PersistentVolumeClaim');
  assert.deepEqual(valueAt(stored, 'status'), { phase: 'Pending' });
  assert.equal(valueAt(stored, 'spec', 'volumeMode'), 'Filesystem');
});

const IMMUTABLE_SELECTOR = 'spec.selector: Invalid value: {"matchLabels":{"app":"web","tier":"x"}}: field is immutable';
const SELECTOR = { 'spec.selector.matchLabels.tier': 'x', 'spec.template.metadata.labels.tier': 'x' };

for (const [resource, object] of [
  ['deployments.apps', DEPLOYMENT],
  ['replicasets.apps', REPLICA_SET],
  ['daemonsets.apps', DAEMON_SET],
] as const)
  test(`the selector of ${resource} is immutable`, () => {
    const old = created(resource, object);
    assert.deepEqual(updateErrors(resource, old, change(SELECTOR)), [IMMUTABLE_SELECTOR]);
    assert.deepEqual(updateErrors(resource, old, change({ 'spec.template.spec.containers.0.image': 'x' })), []);
  });

test('most of a StatefulSet’s spec is immutable', () => {
  const old = created('statefulsets.apps', STATEFUL_SET);
  assert.deepEqual(
    updateErrors('statefulsets.apps', old, change({ 'spec.replicas': 5, 'spec.minReadySeconds': 1 })),
    [],
  );
  assert.deepEqual(updateErrors('statefulsets.apps', old, change({ 'spec.serviceName': 'x' })), [
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  ]);
});

test('a DaemonSet counts changes to its template', () => {
  const key = 'deprecated.daemonset.template.generation';
  const old = created('daemonsets.apps', DAEMON_SET);
  assert.equal(old.metadata.annotations?.[key], '1');
  const update = (changes: Record<string, unknown>) =>
    strategyOf('daemonsets.apps').prepareForUpdate?.(set(old, changes), old).metadata.annotations?.[key];
  const withoutCount = set(old, { 'metadata.annotations': {} });
  assert.equal(strategyOf('daemonsets.apps').applyDefaults?.(withoutCount).metadata.annotations?.[key], '0');
  assert.equal(strategyOf('daemonsets.apps').applyDefaults?.(old).metadata.annotations?.[key], '1');
  assert.equal(update({ 'spec.minReadySeconds': 5, 'metadata.annotations': {} }), '1');
  assert.equal(update({ 'spec.template.spec.containers.0.image': 'x' }), '2');
});

test('a DaemonSet’s template generation is an int64 that clients cannot change', () => {
  const resource = 'daemonsets.apps';
  const at = 'metadata.annotations';
  const counted = (count: string) => ({ 'deprecated.daemonset.template.generation': count });
  const daemonSet = (count: string) =>
    created(resource, { ...DAEMON_SET, metadata: { name: 'a', annotations: counted(count) } });
  const countOf = ({ metadata }: ApiObject) => Object.values(metadata.annotations ?? {});
  const greatest = '9223372036854775807';
  assert.deepEqual(
    [...countOf(daemonSet('-5')), ...countOf(daemonSet('+07')), ...countOf(daemonSet(greatest))],
    ['1', '7', greatest],
  );
  const image = change({ 'spec.template.spec.containers.0.image': 'x' });
  assert.deepEqual(updateErrors(resource, daemonSet(greatest), image), [
    'spec.templateGeneration: Invalid value: -9223372036854775808: must not be decremented',
    'spec.templateGeneration: Invalid value: -9223372036854775808: must be greater than or equal to 0',
  ]);
  const status = (now: ApiObject) => set(now, { [at]: { ...counted('9'), a: 'b' } });
  const { object } = updateSubresource({ resource, name: 'status' }, daemonSet('3'), status);
  assert.deepEqual(object.metadata.annotations, { ...counted('3'), a: 'b' });
  const problem = (count: string) =>
    strategyOf(resource).conversionProblem?.(set(daemonSet('1'), { [at]: counted(count) }));
  assert.equal(problem('0x10'), 'strconv.ParseInt: parsing "0x10": invalid syntax');
  assert.equal(problem(''), 'strconv.ParseInt: parsing "": invalid syntax');
  assert.equal(problem('9223372036854775808'), 'strconv.ParseInt: parsing "9223372036854775808": value out of range');
  assert.equal(problem('-1'), undefined);
});

test('status updates are validated, and preserve the spec', () => {
  const old = created('deployments.apps', DEPLOYMENT);
  const { object, errors } = updateSubresource({ resource: 'deployments.apps', name: 'status' }, old, (now) =>
    set(now, {
      status: { replicas: 1, readyReplicas: 2, availableReplicas: 3 },
      'spec.replicas': 9,
      'metadata.labels': { a: 'b' },
    }),
  );
  assert.deepEqual(errors, [
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas',
  ]);
  assert.deepEqual({ spec: object.spec, metadata: object.metadata }, { spec: old.spec, metadata: old.metadata });
  const collided = set(old, { 'status.collisionCount': 2 });
  assert.deepEqual(
    updateSubresource(
      { resource: 'deployments.apps', name: 'status' },
      collided,
      change({ 'status.collisionCount': 1 }),
    ).errors,
    ['status.collisionCount: Invalid value: 1: cannot be decremented'],
  );
});

test('ReplicationControllers, but not ReplicaSets, can be selected by their status replicas', () => {
  const fields = (resource: string) => Object.keys(strategyOf(resource).selectableFields ?? {});
  assert.deepEqual([fields('replicationcontrollers'), fields('replicasets.apps')], [['status.replicas'], []]);
});

test('a scale shows and changes the replica count', () => {
  const { scale } = strategyOf('deployments.apps');
  const object = set(created('deployments.apps', DEPLOYMENT), {
    'metadata.resourceVersion': '7',
    'spec.selector.matchExpressions': [
      { key: 'a', operator: 'In', values: ['y', 'x'] },
      { key: 'b', operator: 'DoesNotExist' },
    ],
    'status.replicas': 2,
  });
  const shown = scale?.scaleOf(object);
  assert.deepEqual(shown, {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'web', namespace: 'default', uid: 'b1946ac9-2d1f-4c3a-9d1e-6b1d2c3e4f50', resourceVersion: '7' },
    spec: { replicas: 1 },
    status: { replicas: 2, selector: 'a in (x,y),app=web,!b' },
  });
  const scaled = scale?.withScale(object, set(shown!, { 'spec.replicas': 5, 'metadata.resourceVersion': undefined }));
  assert.equal(valueAt(scaled, 'spec', 'replicas'), 5);
  assert.equal(scaled?.metadata.resourceVersion, undefined);
  assert.deepEqual(
    scale?.validate(set(shown!, { 'spec.replicas': -1 })).map(({ message }) => message),
    ['Invalid value: -1: must be greater than or equal to 0'],
  );
  assert.equal(
    valueAt(
      strategyOf('replicationcontrollers').scale?.scaleOf(created('replicationcontrollers', CONTROLLER)),
      'status',
      'selector',
    ),
    'app=web',
  );
});

test('dependents of ReplicationControllers and Jobs are orphaned by default', () => {
  const policies = ['replicationcontrollers', 'jobs.batch', 'cronjobs.batch', 'deployments.apps'].map(
    (resource) => strategyOf(resource).defaultDeletion ?? 'background',
  );
  assert.deepEqual(policies, ['orphan', 'orphan', 'background', 'background']);
});

test('a PodTemplate follows the defaults and rules for templates', () => {
  const object: TestObject = {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { name: 'web' },
    template: { spec: { containers: [] } },
  };
  assert.deepEqual(createErrors('podtemplates', object), ['template.spec.containers: Required value']);
  assert.equal(valueAt(withDefaults('podtemplates', object), 'template', 'spec', 'restartPolicy'), 'Always');
});

test('a name that is not a label is accepted with a warning', () => {
  const warnings = strategyOf('deployments.apps').warnings?.(
    created('deployments.apps', set(DEPLOYMENT, { 'metadata.name': 'a.b' })),
    undefined,
  );
  assert.deepEqual(warnings, [
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]',
  ]);
});

test('a ControllerRevision’s data is an object, and immutable', () => {
  const object: TestObject = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'x' },
    revision: 1,
    data: { a: 1 },
  };
  const resource = 'controllerrevisions.apps';
  assert.deepEqual(createErrors(resource, object), []);
  assert.deepEqual(createErrors(resource, { ...object, data: [] }), [
    'data: Required value: data must be a valid JSON object',
  ]);
  assert.deepEqual(createErrors(resource, { ...object, data: undefined, revision: -1 }), [
    'revision: Invalid value: -1: must be greater than or equal to 0',
    'data: Required value: data is mandatory',
  ]);
  assert.deepEqual(updateErrors(resource, created(resource, object), change({ 'data.a': 2 })), [
    'data: Invalid value: {"a":2}: field is immutable',
  ]);
});

test('a PodDisruptionBudget has only one of its two limits', () => {
  const object: TestObject = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'x' },
    spec: { minAvailable: 1 },
  };
  const resource = 'poddisruptionbudgets.policy';
  assert.deepEqual(createErrors(resource, object), []);
  assert.deepEqual(
    createErrors(resource, set(object, { 'spec.maxUnavailable': '101%', 'spec.unhealthyPodEvictionPolicy': 'x' })),
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"101%","UnhealthyPodEvictionPolicy":"x"}: minAvailable and maxUnavailable cannot be both set',
      'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      'spec.unhealthyPodEvictionPolicy: Unsupported value: "x": supported values: "AlwaysAllow", "IfHealthyBudget"',
    ],
  );
  assert.equal(strategyOf(resource).allowUnconditionalUpdate, false);
  const problems = ['Not_valid', 'a/b'].map((name) => strategyOf(resource).nameProblems?.(name, false));
  assert.deepEqual(problems, [[], ["may not contain '/'"]]);
});

test('names and values of system priority classes are reserved', () => {
  const object = (name: string, value: number): TestObject => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
  });
  const resource = 'priorityclasses.scheduling.k8s.io';
  const reserved =
    "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error:";
  assert.deepEqual(createErrors(resource, object('high', 1_000_000_000)), []);
  assert.deepEqual(createErrors(resource, object('high', 1_000_000_001)), [
    'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
  ]);
  assert.deepEqual(createErrors(resource, object('system-node-critical', 2_000_001_000)), []);
  assert.deepEqual(createErrors(resource, object('system-node-critical', 1)), [
    `${reserved} value of system-node-critical PriorityClass must be 2000001000`,
  ]);
  assert.deepEqual(createErrors(resource, object('system-x', 1)), [
    `${reserved} system-x is not a known system priority class`,
  ]);
  const old = created(resource, object('high', 1));
  assert.equal(old.preemptionPolicy, 'PreemptLowerPriority');
  assert.deepEqual(updateErrors(resource, old, change({ value: 2, preemptionPolicy: 'Never' })), [
    'value: Forbidden: may not be changed in an update.',
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  ]);
});
