import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cell } from './column.ts';
import { tableWith } from './row-checks.fixture.ts';

/** An object with only the fields that every kind requires. */
const LEAST = {
  spec: { containers: [], scaleTargetRef: { kind: 'K', name: 'n' }, taint: {} },
  roleRef: { kind: 'K', name: 'n' },
};

/** Cells printed by upstream for `LEAST`, by kind. The IPAddress table has one more cell than columns. */
const CELLS: Record<string, Cell[]> = {
  ComponentStatus: ['x', 'Unknown', '', ''],
  ConfigMap: ['x', 0, '<unknown>'],
  Endpoints: ['x', '<none>', '<unknown>'],
  Event: ['<unknown>', '', '', '', '', '', '', '<unknown>', 1, 'x'],
  Namespace: ['x', '', '<unknown>'],
  Node: ['x', 'Unknown', '<none>', '<unknown>', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
  PersistentVolume: ['x', '0', '', '', '', '', '', '<unset>', '', '<unknown>', '<unset>'],
  PersistentVolumeClaim: ['x', '', '', '', '', '', '<unset>', '<unknown>', '<unset>'],
  Pod: ['x', '0/0', 'Pending', '0', '<unknown>', '<none>', '<none>', '<none>', '<none>'],
  PodTemplate: ['x', '', '', '<none>'],
  ReplicationController: ['x', 0, 0, 0, '<unknown>', '', '', '<none>'],
  ResourceQuota: ['x', '', '', '<unknown>'],
  Secret: ['x', '', 0, '<unknown>'],
  Service: ['x', '', '<none>', '<unknown>', '<none>', '<unknown>', '<none>'],
  ServiceAccount: ['x', '<unknown>'],
  Status: ['', '', ''],
  'MutatingAdmissionPolicy.admissionregistration.k8s.io': ['x', 0, '<unset>', '<unknown>'],
  'MutatingAdmissionPolicyBinding.admissionregistration.k8s.io': ['x', '', '<unset>', '<unknown>'],
  'MutatingWebhookConfiguration.admissionregistration.k8s.io': ['x', 0, '<unknown>'],
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io': ['x', 0, '<unset>', '<unknown>'],
  'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io': ['x', '', '<unset>', '<unknown>'],
  'ValidatingWebhookConfiguration.admissionregistration.k8s.io': ['x', 0, '<unknown>'],
  'APIService.apiregistration.k8s.io': ['x', 'Local', 'Unknown', '<unknown>'],
  'ControllerRevision.apps': ['x', '<none>', 0, '<unknown>'],
  'DaemonSet.apps': ['x', 0, 0, 0, 0, 0, '<none>', '<unknown>', '', '', '<none>'],
  'Deployment.apps': ['x', '0/0', 0, 0, '<unknown>', '', '', ''],
  'ReplicaSet.apps': ['x', 0, 0, 0, '<unknown>', '', '', '<none>'],
  'StatefulSet.apps': ['x', '0/0', '<unknown>', '', ''],
  'HorizontalPodAutoscaler.autoscaling': ['x', 'K/n', '<none>', '<unset>', 0, 0, '<unknown>'],
  'Scale.autoscaling': ['x', 0, 0, '<unknown>'],
  'CronJob.batch': ['x', '', '<none>', '<unset>', 0, '<none>', '<unknown>', '', '', '<none>'],
  'Job.batch': ['x', 'Running', '0/1', '', '<unknown>', '', '', '<none>'],
  'CertificateSigningRequest.certificates.k8s.io': ['x', '<unknown>', '<none>', '', '<none>', 'Pending'],
  'ClusterTrustBundle.certificates.k8s.io': ['x', '<none>'],
  'PodCertificateRequest.certificates.k8s.io': ['x', '', '', '', '', 'Pending', '<none>'],
  'Lease.coordination.k8s.io': ['x', '', '<unknown>'],
  'LeaseCandidate.coordination.k8s.io': ['x', '', '', '', '<unknown>'],
  'EndpointSlice.discovery.k8s.io': ['x', '', '<unset>', '<unset>', '<unknown>'],
  'FlowSchema.flowcontrol.apiserver.k8s.io': ['x', '', 0, '<none>', '<unknown>', '?'],
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io': [
    'x',
    '',
    '<none>',
    '<none>',
    '<none>',
    '<none>',
    '<unknown>',
  ],
  'StorageVersion.internal.apiserver.k8s.io': ['x', '<unset>', '<unset>', '<unknown>'],
  'IPAddress.networking.k8s.io': ['x', '<none>', '<unknown>'],
  'Ingress.networking.k8s.io': ['x', '<none>', '*', '', '80', '<unknown>'],
  'IngressClass.networking.k8s.io': ['x', '', '<none>', '<unknown>'],
  'NetworkPolicy.networking.k8s.io': ['x', '<none>', '<unknown>'],
  'ServiceCIDR.networking.k8s.io': ['x', '', '<unknown>'],
  'RuntimeClass.node.k8s.io': ['x', '', '<unknown>'],
  'PodDisruptionBudget.policy': ['x', 'N/A', 'N/A', 0, '<unknown>'],
  'ClusterRoleBinding.rbac.authorization.k8s.io': ['x', 'K/n', '<unknown>', '', '', ''],
  'RoleBinding.rbac.authorization.k8s.io': ['x', 'K/n', '<unknown>', '', '', ''],
  'DeviceClass.resource.k8s.io': ['x', '<unknown>'],
  'DeviceTaintRule.resource.k8s.io': ['x', '', '', '', '', '<unknown>'],
  'ResourceClaim.resource.k8s.io': ['x', 'pending', '<unknown>'],
  'ResourceClaimTemplate.resource.k8s.io': ['x', '<unknown>'],
  'ResourcePoolStatusRequest.resource.k8s.io': ['x', '', '-', '-', '-', '-', '-', 0, 'Pending', '<none>'],
  'ResourceSlice.resource.k8s.io': ['x', '', '', '', '<unknown>'],
  'PodGroup.scheduling.k8s.io': ['x', 'Basic', '<none>', 'Pending', '<unknown>'],
  'PriorityClass.scheduling.k8s.io': ['x', 0, false, '<unknown>', ''],
  'Workload.scheduling.k8s.io': ['x', '<unknown>'],
  'CSIDriver.storage.k8s.io': ['x', true, false, false, '<unset>', false, '<none>', '<unknown>'],
  'CSINode.storage.k8s.io': ['x', 0, '<unknown>'],
  'StorageClass.storage.k8s.io': ['x', '', 'Delete', 'Immediate', false, '<unknown>'],
  'VolumeAttachment.storage.k8s.io': ['x', '', '', '', false, '<unknown>'],
  'VolumeAttributesClass.storage.k8s.io': ['x', '', '<unknown>'],
  'StorageVersionMigration.storagemigration.k8s.io': ['x', '', 'Unknown'],
};

test('cells for unset fields match upstream', () => {
  const cells = Object.fromEntries(Object.keys(CELLS).map((key) => [key, tableWith(key, LEAST).rows[0]!.cells]));
  assert.deepEqual(cells, CELLS);
});
