/** The order for applying a manifest's objects, so that dependencies come first. */

/** Kinds in apply order, following Helm's install order; all other kinds come last. */
const ORDER = [
  ...['PriorityClass', 'RuntimeClass', 'StorageClass', 'IngressClass', 'GatewayClass', 'CSIDriver', 'NetworkPolicy'],
  ...['ResourceQuota', 'LimitRange', 'PodDisruptionBudget', 'ServiceAccount', 'Secret', 'ConfigMap'],
  ...['PersistentVolume', 'PersistentVolumeClaim', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  ...['Service', 'Endpoints', 'EndpointSlice', 'Pod', 'ReplicationController', 'ReplicaSet', 'Deployment'],
  ...['StatefulSet', 'DaemonSet', 'HorizontalPodAutoscaler', 'Job', 'CronJob', 'Ingress', 'APIService'],
];
const RANKS = new Map(ORDER.map((kind, index) => [kind, index]));

type Kind = { kind: string };

/**
 * Whether the object is a Namespace or CustomResourceDefinition. Other objects of the manifest might need it before they can be looked up
 * or validated.
 */
export const isGround = ({ kind }: Kind): boolean => kind === 'Namespace' || kind === 'CustomResourceDefinition';

export function inApplyOrder<T extends Kind>(objects: readonly T[]): T[] {
  const rankOf = ({ kind }: Kind) => (isGround({ kind }) ? -1 : (RANKS.get(kind) ?? ORDER.length));
  return objects.toSorted((a, b) => rankOf(a) - rankOf(b));
}
