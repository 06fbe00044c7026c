import type { Resource } from '@podwright/kube-api';

const core = (plural: string, kind: string, namespaced: boolean): Resource => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced,
});

export const PODS = core('pods', 'Pod', true);
export const NODES = core('nodes', 'Node', false);
export const NAMESPACES = core('namespaces', 'Namespace', false);
export const SERVICES = core('services', 'Service', true);
export const CONFIG_MAPS = core('configmaps', 'ConfigMap', true);
export const SECRETS = core('secrets', 'Secret', true);
export const SERVICE_ACCOUNTS = core('serviceaccounts', 'ServiceAccount', true);
export const EVENTS = core('events', 'Event', true);
export const PERSISTENT_VOLUMES = core('persistentvolumes', 'PersistentVolume', false);
export const PERSISTENT_VOLUME_CLAIMS = core('persistentvolumeclaims', 'PersistentVolumeClaim', true);
export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};
export const RUNTIME_CLASSES: Resource = {
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
};
export const CSI_NODES: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'csinodes',
  kind: 'CSINode',
  namespaced: false,
};
export const CSI_DRIVERS: Resource = { ...CSI_NODES, plural: 'csidrivers', kind: 'CSIDriver' };
export const STORAGE_CLASSES: Resource = { ...CSI_NODES, plural: 'storageclasses', kind: 'StorageClass' };
export const VOLUME_ATTACHMENTS: Resource = { ...CSI_NODES, plural: 'volumeattachments', kind: 'VolumeAttachment' };
export const RESOURCE_SLICES: Resource = {
  group: 'resource.k8s.io',
  version: 'v1',
  plural: 'resourceslices',
  kind: 'ResourceSlice',
  namespaced: false,
};
export const RESOURCE_CLAIMS: Resource = {
  ...RESOURCE_SLICES,
  plural: 'resourceclaims',
  kind: 'ResourceClaim',
  namespaced: true,
};
export const CERTIFICATE_SIGNING_REQUESTS: Resource = {
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
};
export const TOKEN_REVIEWS: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
};
export const SUBJECT_ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};
export const ENDPOINT_SLICES: Resource = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};
