import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ColumnDefinition } from './column.ts';
import { loadTables } from './load-tables.ts';
import { ago, DAY, NOW_MS, tableWith } from './row-checks.fixture.ts';
import { tableOf } from './table-of.ts';

/** The columns of Kubernetes 1.36. Marks: `@` object name, `#` integer, `?` boolean, `*` only with `-o wide`. */
const COLUMNS: Record<string, string> = {
  ComponentStatus: 'Name@, Status, Message, Error',
  ConfigMap: 'Name@, Data, Age',
  Endpoints: 'Name@, Endpoints, Age',
  Event: 'Last Seen, Type, Reason, Object, Subobject*, Source*, Message, First Seen*, Count*, Name@*',
  Namespace: 'Name@, Status, Age',
  Node: 'Name@, Status, Roles, Age, Version, Internal-IP*, External-IP*, OS-Image*, Kernel-Version*, Container-Runtime*',
  PersistentVolume:
    'Name@, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, VolumeAttributesClass, Reason, Age, VolumeMode*',
  PersistentVolumeClaim:
    'Name@, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age, VolumeMode*',
  Pod: 'Name@, Ready, Status, Restarts, Age, IP*, Node*, Nominated Node*, Readiness Gates*',
  PodTemplate: 'Name@, Containers, Images, Pod Labels',
  ReplicationController: 'Name@, Desired#, Current#, Ready#, Age, Containers*, Images*, Selector*',
  ResourceQuota: 'Name@, Request, Limit, Age',
  Secret: 'Name@, Type, Data, Age',
  Service: 'Name@, Type, Cluster-IP, External-IP, Port(s), Age, Selector*',
  ServiceAccount: 'Name@, Age',
  Status: 'Status, Reason, Message',
  'MutatingAdmissionPolicy.admissionregistration.k8s.io': 'Name@, Mutations#, ParamKind, Age',
  'MutatingAdmissionPolicyBinding.admissionregistration.k8s.io': 'Name@, PolicyName, ParamRef, Age',
  'MutatingWebhookConfiguration.admissionregistration.k8s.io': 'Name@, Webhooks#, Age',
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io': 'Name@, Validations#, ParamKind, Age',
  'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io': 'Name@, PolicyName, ParamRef, Age',
  'ValidatingWebhookConfiguration.admissionregistration.k8s.io': 'Name@, Webhooks#, Age',
  'APIService.apiregistration.k8s.io': 'Name@, Service, Available, Age',
  'ControllerRevision.apps': 'Name@, Controller, Revision, Age',
  'DaemonSet.apps':
    'Name@, Desired#, Current#, Ready#, Up-to-date#, Available#, Node Selector, Age, Containers*, Images*, Selector*',
  'Deployment.apps': 'Name@, Ready, Up-to-date, Available, Age, Containers*, Images*, Selector*',
  'ReplicaSet.apps': 'Name@, Desired#, Current#, Ready#, Age, Containers*, Images*, Selector*',
  'StatefulSet.apps': 'Name@, Ready, Age, Containers*, Images*',
  'HorizontalPodAutoscaler.autoscaling': 'Name@, Reference, Targets, MinPods, MaxPods, Replicas, Age',
  'Scale.autoscaling': 'Name, Desired#, Available#, Age',
  'CronJob.batch': 'Name@, Schedule, Timezone, Suspend?, Active#, Last Schedule, Age, Containers*, Images*, Selector*',
  'Job.batch': 'Name@, Status, Completions, Duration, Age, Containers*, Images*, Selector*',
  'CertificateSigningRequest.certificates.k8s.io': 'Name@, Age, SignerName, Requestor, RequestedDuration, Condition',
  'ClusterTrustBundle.certificates.k8s.io': 'Name@, SignerName',
  'PodCertificateRequest.certificates.k8s.io':
    'Name@, PodName, ServiceAccountName, NodeName, SignerName, State, UnverifiedUserAnnotations',
  'Lease.coordination.k8s.io': 'Name@, Holder, Age',
  'LeaseCandidate.coordination.k8s.io': 'Name@, LeaseName, BinaryVersion, EmulationVersion, Age',
  'EndpointSlice.discovery.k8s.io': 'Name@, AddressType, Ports, Endpoints, Age',
  'FlowSchema.flowcontrol.apiserver.k8s.io':
    'Name@, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL',
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io':
    'Name@, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age',
  'StorageVersion.internal.apiserver.k8s.io': 'Name@, CommonEncodingVersion, StorageVersions, Age',
  'IPAddress.networking.k8s.io': 'Name@, ParentRef',
  'Ingress.networking.k8s.io': 'Name@, Class, Hosts, Address, Ports, Age',
  'IngressClass.networking.k8s.io': 'Name@, Controller, Parameters, Age',
  'NetworkPolicy.networking.k8s.io': 'Name@, Pod-Selector, Age',
  'ServiceCIDR.networking.k8s.io': 'Name@, CIDRs, Age',
  'RuntimeClass.node.k8s.io': 'Name@, Handler, Age',
  'PodDisruptionBudget.policy': 'Name@, Min Available, Max Unavailable, Allowed Disruptions#, Age',
  'ClusterRoleBinding.rbac.authorization.k8s.io': 'Name@, Role, Age, Users*, Groups*, ServiceAccounts*',
  'RoleBinding.rbac.authorization.k8s.io': 'Name@, Role, Age, Users*, Groups*, ServiceAccounts*',
  'DeviceClass.resource.k8s.io': 'Name@, Age',
  'DeviceTaintRule.resource.k8s.io': 'Name@, Key, Value, Effect, TimeAdded, Age',
  'ResourceClaim.resource.k8s.io': 'Name@, State, Age',
  'ResourceClaimTemplate.resource.k8s.io': 'Name@, Age',
  'ResourcePoolStatusRequest.resource.k8s.io':
    'Name@, Driver, Total, Available, Allocated, Unavailable, Errors, Pools#, Status, Completed',
  'ResourceSlice.resource.k8s.io': 'Name@, Node, Driver, Pool, Age',
  'PodGroup.scheduling.k8s.io': 'Name@, Policy, Workload, Status, Age',
  'PriorityClass.scheduling.k8s.io': 'Name@, Value#, Global-Default?, Age, PreemptionPolicy',
  'Workload.scheduling.k8s.io': 'Name@, Age',
  'CSIDriver.storage.k8s.io':
    'Name@, AttachRequired?, PodInfoOnMount?, StorageCapacity?, TokenRequests, RequiresRepublish?, Modes, Age',
  'CSINode.storage.k8s.io': 'Name@, Drivers#, Age',
  'StorageClass.storage.k8s.io': 'Name@, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age',
  'VolumeAttachment.storage.k8s.io': 'Name@, Attacher@, PV, Node, Attached?, Age',
  'VolumeAttributesClass.storage.k8s.io': 'Name@, DriverName, Age',
  'StorageVersionMigration.storagemigration.k8s.io': 'Name, Resource, Status',
};

const MARKS: Readonly<Record<string, string>> = { string: '', integer: '#', boolean: '?', date: '%' };

const marked = ({ name, type, format, priority }: ColumnDefinition): string =>
  `${name}${MARKS[type]}${format === 'name' ? '@' : ''}${priority === 1 ? '*' : ''}`;

const columnsOf = (key: string): string => tableWith(key).columnDefinitions!.map(marked).join(', ');

test('the columns of each kind match upstream', () => {
  const columns = Object.fromEntries(Object.keys(COLUMNS).map((key) => [key, columnsOf(key)]));
  assert.deepEqual(columns, COLUMNS);
});

test('each column has a short description', () => {
  const descriptions = Object.keys(COLUMNS).flatMap((key) =>
    tableWith(key).columnDefinitions!.map(({ name, description }) => ({ key, name, length: description.length })),
  );
  assert.deepEqual(
    descriptions.filter(({ length }) => length < 5 || length > 60),
    [],
  );
});

test('the tables are loaded on demand', async () => {
  assert.equal((await loadTables()).tableOf, tableOf);
});

test('other kinds show a name and creation time', () => {
  const object = { metadata: { name: 'n', creationTimestamp: '2025-12-31T12:00:00Z' } };
  for (const key of [
    'LimitRange',
    'Role.rbac.authorization.k8s.io',
    'CSIStorageCapacity.storage.k8s.io',
    'Pod.other.io',
  ]) {
    assert.equal(columnsOf(key), 'Name@, Created At%', key);
    assert.deepEqual(tableWith(key, object).rows[0]!.cells, ['n', '2025-12-31T12:00:00Z']);
  }
  assert.equal(columnsOf('constructor'), 'Name@, Created At%');
});

test('rows include no object, its metadata or the whole object', () => {
  const metadata = { name: 'n', uid: 'u', managedFields: [] };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } };
  const check = (includeObject: 'None' | 'Metadata' | 'Object', expected: object | null) => {
    const options = { includeObject, resourceVersion: '5', nowMs: NOW_MS };
    const { rows } = tableOf({ group: '', kind: 'ConfigMap' }, [object], options);
    assert.deepEqual(rows, [{ cells: ['n', 1, '<unknown>'], object: expected }]);
  };
  check('None', null);
  check('Metadata', { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
  check('Object', object);
});

test('a table has the list’s metadata, and no columns if the client already has them', () => {
  const options = { includeObject: 'None', resourceVersion: '5', nowMs: NOW_MS } as const;
  const kind = { group: '', kind: 'Namespace' };
  const plain = tableOf(kind, [], options);
  assert.deepEqual(
    [plain.kind, plain.apiVersion, plain.metadata],
    ['Table', 'meta.k8s.io/v1', { resourceVersion: '5' }],
  );
  const next = tableOf(kind, [], { ...options, continue: 'c', remainingItemCount: 0, noHeaders: true });
  assert.deepEqual(next.metadata, { resourceVersion: '5', continue: 'c', remainingItemCount: 0 });
  assert.deepEqual([next.columnDefinitions, next.rows], [null, []]);
});

test('the age of an object is the time since its creation', () => {
  const check = (creationTimestamp: string | undefined, expected: string) =>
    assert.deepEqual(tableWith('ServiceAccount', { metadata: { name: 'n', creationTimestamp } }).rows[0]!.cells, [
      'n',
      expected,
    ]);
  check(undefined, '<unknown>');
  check(ago(-1.9), '0s');
  check(ago(-3), '<invalid>');
  check(ago(300), '5m');
  check(ago(3 * DAY), '3d');
  check(ago(10 * 365 * DAY), '10y');
});
