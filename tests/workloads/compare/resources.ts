/** Resources used by the scenarios. */
import type { Resource } from '@podwright/kube-api';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  RESOURCE_CLAIMS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '@podwright/kube-client';

const resource = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: true,
});

export { ENDPOINT_SLICES };
export const DEPLOYMENTS = resource('apps', 'deployments', 'Deployment');
export const REPLICA_SETS = resource('apps', 'replicasets', 'ReplicaSet');
export const STATEFUL_SETS = resource('apps', 'statefulsets', 'StatefulSet');
export const DAEMON_SETS = resource('apps', 'daemonsets', 'DaemonSet');
const REVISIONS = resource('apps', 'controllerrevisions', 'ControllerRevision');
export const REPLICATION_CONTROLLERS = resource('', 'replicationcontrollers', 'ReplicationController');
export const QUOTAS = resource('', 'resourcequotas', 'ResourceQuota');
export const ENDPOINTS = resource('', 'endpoints', 'Endpoints');
export const BUDGETS = resource('policy', 'poddisruptionbudgets', 'PodDisruptionBudget');
export const JOBS = resource('batch', 'jobs', 'Job');
export const CRON_JOBS = resource('batch', 'cronjobs', 'CronJob');
export const CLAIM_TEMPLATES = resource('resource.k8s.io', 'resourceclaimtemplates', 'ResourceClaimTemplate');
export const AUTOSCALERS: Resource = {
  ...resource('autoscaling', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'),
  version: 'v2',
};
export const CLUSTER_ROLES: Resource = {
  ...resource('rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole'),
  namespaced: false,
};

/** Resources whose objects are compared between control planes. */
export const COMPARED_RESOURCES: Resource[] = [
  ...[DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS, DAEMON_SETS, REVISIONS, JOBS, CRON_JOBS],
  ...[PODS, SERVICES, ENDPOINTS, ENDPOINT_SLICES, BUDGETS, QUOTAS, AUTOSCALERS, CONFIG_MAPS, SECRETS],
  ...[SERVICE_ACCOUNTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, RESOURCE_CLAIMS, CLAIM_TEMPLATES],
  ...[NAMESPACES, CLUSTER_ROLES, CERTIFICATE_SIGNING_REQUESTS],
];
