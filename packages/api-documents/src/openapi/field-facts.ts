/** Properties of fields in upstream's OpenAPI v3 documents that are missing from the schema data of the kinds. */

const ISCSI = { iscsiInterface: 'default' };
const RBD = { keyring: '/etc/ceph/keyring', pool: 'rbd', user: 'admin' };
const SCALE_IO = { fsType: 'xfs', storageMode: 'ThinProvisioned' };
const EMPTY_NAME = { name: '' };
const EQUAL = { operator: 'Equal' };

/**
 * Defaults by type and field, other than Go's zero values for required fields. Clients need the defaults of list map keys to merge lists.
 */
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'admissionregistration.v1alpha1.MatchCondition': { expression: '', name: '' },
  'autoscaling.v1.ScaleSpec': { replicas: 0 },
  'certificates.v1beta1.PodCertificateRequestSpec': { maxExpirationSeconds: 86400 },
  'core.v1.AzureDiskVolumeSource': { cachingMode: 'ReadWrite', fsType: 'ext4', kind: 'Shared', readOnly: false },
  'core.v1.ConfigMapEnvSource': EMPTY_NAME,
  'core.v1.ConfigMapKeySelector': EMPTY_NAME,
  'core.v1.ConfigMapProjection': EMPTY_NAME,
  'core.v1.ConfigMapVolumeSource': EMPTY_NAME,
  'core.v1.ContainerPort': { protocol: 'TCP' },
  'core.v1.FileKeySelector': { optional: false },
  'core.v1.GRPCAction': { service: '' },
  'core.v1.ISCSIPersistentVolumeSource': ISCSI,
  'core.v1.ISCSIVolumeSource': ISCSI,
  'core.v1.LocalObjectReference': EMPTY_NAME,
  'core.v1.RBDPersistentVolumeSource': RBD,
  'core.v1.RBDVolumeSource': RBD,
  'core.v1.ReplicationControllerSpec': { minReadySeconds: 0, replicas: 1 },
  'core.v1.ScaleIOPersistentVolumeSource': SCALE_IO,
  'core.v1.ScaleIOVolumeSource': SCALE_IO,
  'core.v1.SecretEnvSource': EMPTY_NAME,
  'core.v1.SecretKeySelector': EMPTY_NAME,
  'core.v1.SecretProjection': EMPTY_NAME,
  'core.v1.ServicePort': { protocol: 'TCP' },
  'resource.v1.DeviceToleration': EQUAL,
  'resource.v1alpha3.ResourcePoolStatusRequestSpec': { limit: 100 },
  'resource.v1beta1.DeviceToleration': EQUAL,
  'resource.v1beta2.DeviceToleration': EQUAL,
  'scheduling.v1alpha2.PodGroupSpec': { disruptionMode: 'Pod' },
};

export const defaultOf = (type: string, field: string): unknown =>
  Object.hasOwn(DEFAULTS, type) ? DEFAULTS[type]![field] : undefined;

/** Structs that allow at most one of the `fields` to be set. `discriminator`: the field that names the one in use. */
const UNIONS: Readonly<Record<string, { discriminator?: string; fields: readonly string[] }>> = {
  'core.v1.AppArmorProfile': { discriminator: 'type', fields: ['localhostProfile'] },
  'core.v1.PodSchedulingGroup': { fields: ['podGroupName'] },
  'core.v1.SeccompProfile': { discriminator: 'type', fields: ['localhostProfile'] },
  'flowcontrol.v1.LimitResponse': { discriminator: 'type', fields: ['queuing'] },
  'flowcontrol.v1.PriorityLevelConfigurationSpec': { discriminator: 'type', fields: ['exempt', 'limited'] },
  'flowcontrol.v1.Subject': { discriminator: 'kind', fields: ['group', 'serviceAccount', 'user'] },
  'scheduling.v1alpha2.PodGroupSchedulingPolicy': { fields: ['basic', 'gang'] },
  'scheduling.v1alpha2.PodGroupTemplateReference': { fields: ['workload'] },
};

/** Returns the value of `x-kubernetes-unions`, which uses the fields' Go names as discriminator values. */
export function unionsOf(type: string): object[] | undefined {
  const union = Object.hasOwn(UNIONS, type) ? UNIONS[type]! : undefined;
  if (union === undefined) return undefined;
  const { discriminator, fields } = union;
  const names = fields.map((field) => [field, `${field[0]!.toUpperCase()}${field.slice(1)}`]);
  return [
    {
      ...(discriminator === undefined ? {} : { discriminator }),
      'fields-to-discriminateBy': Object.fromEntries(names),
    },
  ];
}

const GRANULAR: readonly string[] = [
  'core.v1.PersistentVolumeClaimStatus.allocatedResourceStatuses',
  'core.v1.PersistentVolumeSpec.claimRef',
];

/** Whether server-side apply merges a map or struct field by field, regardless of its type (`x-kubernetes-map-type: granular`). */
export const isGranular = (type: string, field: string): boolean => GRANULAR.includes(`${type}.${field}`);
