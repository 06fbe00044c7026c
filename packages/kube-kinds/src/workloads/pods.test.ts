import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api-object.ts';
import { objectAt, valueAt } from '../values.ts';
import {
  created,
  POD,
  set,
  strategyOf,
  updateErrors,
  updateSubresource,
  withDefaults,
} from './strategy-checks.fixture.ts';

const pod = (changes: Record<string, unknown> = {}): ApiObject => created('pods', set(POD, changes));
const change = (changes: Record<string, unknown>) => (object: ApiObject) => set(object, changes);

test('a new pod is Pending, with upstream’s defaults and QoS class', () => {
  assert.deepEqual(pod(), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      containers: [
        {
          name: 'web',
          image: 'nginx:1.29',
          resources: {},
          imagePullPolicy: 'IfNotPresent',
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
});

test('limits become requests, host ports follow the host network, and the deprecated service account field is set', () => {
  const { spec, status } = pod({
    'spec.hostNetwork': true,
    'spec.serviceAccount': 'robot',
    'spec.terminationGracePeriodSeconds': -5,
    'spec.containers.0.ports': [{ containerPort: 80 }],
    'spec.containers.0.resources': { limits: { cpu: '1', memory: '1Gi' } },
  });
  assert.deepEqual(valueAt(spec, 'containers', 0, 'resources', 'requests'), { cpu: '1', memory: '1Gi' });
  assert.deepEqual(valueAt(spec, 'containers', 0, 'ports'), [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }]);
  assert.equal(valueAt(spec, 'serviceAccountName'), 'robot');
  assert.equal(valueAt(spec, 'terminationGracePeriodSeconds'), 1);
  assert.equal(valueAt(status, 'qosClass'), 'Guaranteed');
});

test('an empty string in a pointer field of Go is preserved as a value', () => {
  const { spec } = pod({
    'spec.volumes': [
      { name: 'a', azureDisk: { diskName: 'd', diskURI: 'u', fsType: '' } },
      { name: 'b', ephemeral: { volumeClaimTemplate: { spec: { volumeMode: '' } } } },
    ],
  });
  const { fsType, kind } = valueAt(spec, 'volumes', 0, 'azureDisk') as { fsType: string; kind: string };
  assert.deepEqual([fsType, kind], ['', 'Shared']);
  assert.equal(valueAt(spec, 'volumes', 1, 'ephemeral', 'volumeClaimTemplate', 'spec', 'volumeMode'), '');
});

test('volumes, probes and references get upstream’s defaults', () => {
  const { spec } = pod({
    'spec.volumes': [
      { name: 'a' },
      { name: 'b', hostPath: { path: '/x' } },
      { name: 'c', projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } },
      { name: 'd', ephemeral: { volumeClaimTemplate: { spec: {} } } },
    ],
    'spec.containers.0.readinessProbe': { httpGet: { port: 80 } },
    'spec.containers.0.env': [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  });
  assert.deepEqual(valueAt(spec, 'volumes', 0), { name: 'a', emptyDir: {} });
  assert.deepEqual(valueAt(spec, 'volumes', 1), { name: 'b', hostPath: { path: '/x', type: '' } });
  assert.deepEqual(valueAt(spec, 'volumes', 2, 'projected'), {
    defaultMode: 420,
    sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: 'x' } }],
  });
  assert.equal(valueAt(spec, 'volumes', 3, 'ephemeral', 'volumeClaimTemplate', 'spec', 'volumeMode'), 'Filesystem');
  assert.deepEqual(valueAt(spec, 'containers', 0, 'readinessProbe'), {
    httpGet: { path: '/', port: 80, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  assert.equal(valueAt(spec, 'containers', 0, 'env', 0, 'valueFrom', 'fieldRef', 'apiVersion'), 'v1');
});

test('defaulting is idempotent', () => {
  const complete = withDefaults('pods', POD);
  assert.deepEqual(strategyOf('pods').applyDefaults?.(complete), complete);
});

test('a pod with scheduling gates is not scheduled, and its own labels complete its selectors', () => {
  const { spec, status } = pod({
    'metadata.labels': { app: 'web' },
    'spec.schedulingGates': [{ name: 'a' }],
    'spec.topologySpreadConstraints': [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: {},
        matchLabelKeys: ['app', 'x'],
      },
    ],
  });
  assert.deepEqual(valueAt(status, 'conditions'), [
    {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: '2026-01-02T03:04:05Z',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ]);
  assert.deepEqual(valueAt(spec, 'topologySpreadConstraints', 0, 'labelSelector'), {
    matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }],
  });
});

test('fields of disabled features are dropped from new pods, and kept in existing ones', () => {
  const sources = [{ clusterTrustBundle: { name: 'x', path: 'y' } }];
  const changes = {
    'spec.schedulingGroup': { podGroupName: 'x' },
    'spec.volumes': [{ name: 'a', projected: { sources } }],
  };
  const { spec } = pod(changes);
  assert.equal(valueAt(spec, 'schedulingGroup'), undefined);
  assert.deepEqual(valueAt(spec, 'volumes', 0, 'projected', 'sources'), [{}]);
  const old = withDefaults('pods', set(POD, changes));
  const updated = strategyOf('pods').prepareForUpdate?.(old, old);
  assert.deepEqual(updated, old);
});

test('an AppArmor annotation becomes its container’s profile', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/web';
  const annotated = pod({ 'metadata.annotations': { [key]: 'localhost/x' } });
  assert.deepEqual(valueAt(annotated.spec, 'containers', 0, 'securityContext', 'appArmorProfile'), {
    type: 'Localhost',
    localhostProfile: 'x',
  });
  assert.deepEqual(strategyOf('pods').warnings?.(annotated, undefined), [
    `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
  ]);
});

const IMMUTABLE =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

const UPDATES: readonly (readonly [name: string, changes: Record<string, unknown>, errors: readonly string[]])[] = [
  ['another image', { 'spec.containers.0.image': 'nginx:2' }, []],
  ['a deadline', { 'spec.activeDeadlineSeconds': 5 }, []],
  ['another label', { 'metadata.labels': { a: 'b' } }, []],
  ['a further toleration', { 'spec.tolerations.1': { key: 'b', operator: 'Exists' } }, []],
  ['other seconds of a toleration', { 'spec.tolerations.0.tolerationSeconds': 5 }, []],
  [
    'another key of a toleration',
    { 'spec.tolerations.0.key': 'other' },
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  ],
  ['another name of a container', { 'spec.containers.0.name': 'x' }, [IMMUTABLE]],
  ['another host name', { 'spec.hostname': 'x' }, [IMMUTABLE]],
  ['a node', { 'spec.nodeName': 'x' }, [IMMUTABLE]],
  [
    'a further container',
    { 'spec.containers.1': { name: 'b', image: 'x' } },
    ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  ],
  [
    'a scheduling gate',
    { 'spec.schedulingGates': [{ name: 'x' }] },
    ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'x'"],
  ],
  [
    'a mirror annotation',
    { 'metadata.annotations': { 'kubernetes.io/config.mirror': 'x' } },
    [
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
      'metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation',
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
    ],
  ],
];

const tolerant = pod({ 'spec.tolerations': [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }] });

for (const [name, changes, errors] of UPDATES)
  test(`an update of a pod with ${name} is validated as upstream`, () => {
    const found = updateErrors('pods', tolerant, change(changes));
    // compare only the first line of each error; the other lines are a diff of the specs
    assert.deepEqual(
      found.map((error) => error.split('\n')[0]),
      errors,
    );
  });

test('a deadline can be neither extended nor removed', () => {
  const old = pod({ 'spec.activeDeadlineSeconds': 10 });
  assert.deepEqual(updateErrors('pods', old, change({ 'spec.activeDeadlineSeconds': 11 })), [
    'spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value',
  ]);
  assert.deepEqual(updateErrors('pods', old, change({ 'spec.activeDeadlineSeconds': undefined })), [
    'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
  ]);
});

test('a gated pod’s node constraints can be tightened, but not relaxed', () => {
  const old = pod({ 'spec.schedulingGates': [{ name: 'a' }], 'spec.nodeSelector': { a: 'b' } });
  assert.deepEqual(updateErrors('pods', old, change({ 'spec.nodeSelector': { a: 'b', c: 'd' } })), []);
  assert.deepEqual(updateErrors('pods', old, change({ 'spec.schedulingGates': undefined })), []);
  assert.deepEqual(updateErrors('pods', old, change({ 'spec.nodeSelector': { a: 'x' } })), [
    'spec.nodeSelector: Invalid value: {"a":"x"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
  ]);
  const term = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' }] });
  const path = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution';
  assert.deepEqual(updateErrors('pods', old, change({ [path]: { nodeSelectorTerms: [term('a')] } })), []);
  const bound = set(old, { [path]: { nodeSelectorTerms: [term('a')] } });
  assert.match(
    updateErrors('pods', bound, change({ [path]: { nodeSelectorTerms: [term('b')] } })).join(),
    /nodeSelectorTerms\[0\]: Invalid value: .*: only additions are allowed \(no mutations or deletions\)$/,
  );
});

test('rules that an existing pod violates are relaxed for its update', () => {
  const old = pod({
    'spec.tolerations': [{ key: 'a', operator: 'Lt', value: '5' }],
    'spec.securityContext': { seLinuxChangePolicy: 'MountOption' },
    'metadata.annotations': { 'controller.kubernetes.io/pod-deletion-cost': 'x' },
  });
  assert.deepEqual(updateErrors('pods', old, change({ 'metadata.labels': { a: 'b' } })), []);
});

test('a status update preserves the spec, owners, QoS class and generations', () => {
  const old = set(pod(), {
    'metadata.ownerReferences': [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: '1' }],
    'status.observedGeneration': 3,
    'status.conditions': [{ type: 'Ready', status: 'False', observedGeneration: 2 }],
  });
  const { object, errors } = updateSubresource({ resource: 'pods', name: 'status' }, old, (now) => ({
    ...set(now, { 'spec.hostname': 'x', 'metadata.labels': { a: 'b' }, 'metadata.ownerReferences': undefined }),
    status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
  }));
  assert.deepEqual(errors, []);
  assert.deepEqual(object.spec, old.spec);
  assert.deepEqual(object.metadata, { ...old.metadata, labels: { a: 'b' } });
  assert.deepEqual(object.status, {
    phase: 'Running',
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }],
    conditions: [{ type: 'Ready', status: 'True', observedGeneration: 2 }],
    observedGeneration: 3,
    qosClass: 'BestEffort',
  });
});

const STATUSES: readonly (readonly [name: string, changes: Record<string, unknown>, errors: readonly string[]])[] = [
  [
    'another QoS class',
    { 'status.qosClass': 'Burstable' },
    ['status.qosClass: Invalid value: "Burstable": field is immutable'],
  ],
  [
    'two addresses of a family',
    { 'status.podIPs': [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], 'status.podIP': '10.0.0.1' },
    [
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ],
  ],
  [
    'another address of the host',
    { 'status.hostIP': '10.0.0.1', 'status.hostIPs': [{ ip: '10.0.0.2' }] },
    ['status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`'],
  ],
  [
    'a container that runs again',
    { 'status.containerStatuses.0.state': { running: {} } },
    ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
  ],
  [
    'a claim that the pod does not have',
    { 'status.resourceClaimStatuses': [{ name: 'x' }] },
    [
      'status.resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
    ],
  ],
];

for (const [name, changes, errors] of STATUSES)
  test(`a status with ${name} is rejected as by upstream`, () => {
    const ended = set(pod({ 'spec.restartPolicy': 'Never' }), {
      'status.containerStatuses': [{ name: 'web', state: { terminated: { exitCode: 1 } } }],
    });
    assert.deepEqual(updateSubresource({ resource: 'pods', name: 'status' }, ended, change(changes)).errors, errors);
  });

test('a resize can change only CPU and memory amounts', () => {
  const old = pod({
    'spec.containers.0.resources': { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '2Gi' } },
  });
  const resize = (changes: Record<string, unknown>) =>
    updateSubresource({ resource: 'pods', name: 'resize' }, old, change(changes));
  const { object, errors } = resize({ 'spec.containers.0.resources.requests.cpu': '2', 'spec.hostname': 'x' });
  assert.deepEqual(errors, []);
  assert.equal(valueAt(object, 'spec', 'containers', 0, 'resources', 'requests', 'cpu'), '2');
  assert.equal(valueAt(object, 'spec', 'hostname'), undefined);
  assert.deepEqual(resize({ 'spec.containers.0.resources.limits.ephemeral-storage': '2' }).errors, [
    'spec: Forbidden: only cpu and memory resources are mutable',
  ]);
  assert.deepEqual(resize({ 'spec.containers.0.resources.limits': undefined }).errors, [
    'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
  ]);
  assert.deepEqual(resize({ 'spec.containers.0.name': 'x' }).errors, [
    'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
  ]);
  assert.deepEqual(
    resize({
      'spec.containers.0.resources': { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
    }).errors,
    ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
  );
});

test('ephemeral containers can be added, but not changed or removed', () => {
  const debug = { name: 'debug', image: 'busybox' };
  const add = (old: ApiObject, containers: unknown) =>
    updateSubresource(
      { resource: 'pods', name: 'ephemeralcontainers' },
      old,
      change({ 'spec.ephemeralContainers': containers, 'spec.hostname': 'x' }),
    );
  const { object, errors } = add(pod(), [debug]);
  assert.deepEqual(errors, []);
  assert.equal(valueAt(object, 'spec', 'hostname'), undefined);
  assert.equal(valueAt(object, 'spec', 'ephemeralContainers', 0, 'imagePullPolicy'), 'Always');
  assert.deepEqual(add(object, []).errors, [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
  ]);
  assert.match(
    add(object, [{ ...objectAt(object, 'spec', 'ephemeralContainers', 0), image: 'x' }]).errors.join(),
    /^spec\.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\n@@/,
  );
  assert.deepEqual(add(pod(), [{ ...debug, name: 'web' }]).errors, [
    'spec.ephemeralContainers[0].name: Duplicate value: "web"',
  ]);
});

test('a deletion’s grace period is the requested one, the pod’s own, or none', () => {
  const grace = (changes: Record<string, unknown>, requested?: number) =>
    strategyOf('pods').gracePeriodSeconds?.(set(pod(), changes), requested);
  assert.equal(grace({ 'spec.nodeName': 'x' }), 30);
  assert.equal(grace({ 'spec.nodeName': 'x' }, 5), 5);
  assert.equal(grace({ 'spec.nodeName': 'x' }, -5), 1);
  assert.equal(grace({ 'spec.nodeName': 'x', 'status.phase': 'Failed' }), 0);
  assert.equal(grace({}, 5), 0);
});

test('pods can be selected by node, phase and IP', () => {
  const fields = strategyOf('pods').selectableFields ?? {};
  const object = set(pod(), { 'spec.nodeName': 'x', 'status.podIPs': [{ ip: '10.0.0.1' }] });
  const values = Object.entries(fields).map(([name, textOf]) => [name, textOf(object)]);
  assert.deepEqual(Object.fromEntries(values), {
    'spec.nodeName': 'x',
    'spec.restartPolicy': 'Always',
    'spec.schedulerName': 'default-scheduler',
    'spec.serviceAccountName': '',
    'spec.hostNetwork': 'false',
    'status.phase': 'Pending',
    'status.podIP': '10.0.0.1',
    'status.nominatedNodeName': '',
  });
});
