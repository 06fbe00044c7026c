/** The built-in resources used by the page, and the paths of resources. Pure functions. */
import { pathOf as absolutePathOf } from '@podwright/kube-api';
import type { Resource } from './objects.ts';

type Row = [group: string, version: string, plural: string, kind: string, isNamespaced?: false];

const resource = ([group, version, plural, kind, isNamespaced]: Row): Resource => ({
  ...{ group, version, plural, kind, namespaced: isNamespaced !== false },
});

const rows = (list: Row[]): Resource[] => list.map(resource);

/** The sections of the navigation, with the resources in each. */
export const SECTIONS: readonly { title: string; id: string; resources: Resource[] }[] = [
  {
    title: 'Workloads',
    id: 'workloads',
    resources: rows([
      ['', 'v1', 'pods', 'Pod'],
      ['apps', 'v1', 'deployments', 'Deployment'],
      ['apps', 'v1', 'statefulsets', 'StatefulSet'],
      ['apps', 'v1', 'daemonsets', 'DaemonSet'],
      ['apps', 'v1', 'replicasets', 'ReplicaSet'],
      ['', 'v1', 'replicationcontrollers', 'ReplicationController'],
      ['batch', 'v1', 'jobs', 'Job'],
      ['batch', 'v1', 'cronjobs', 'CronJob'],
      ['autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'],
      ['policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget'],
    ]),
  },
  {
    title: 'Services',
    id: 'services',
    resources: rows([
      ['', 'v1', 'services', 'Service'],
      ['discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice'],
      ['networking.k8s.io', 'v1', 'ingresses', 'Ingress'],
      ['networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy'],
    ]),
  },
  {
    title: 'Configuration',
    id: 'configuration',
    resources: rows([
      ['', 'v1', 'configmaps', 'ConfigMap'],
      ['', 'v1', 'secrets', 'Secret'],
      ['', 'v1', 'serviceaccounts', 'ServiceAccount'],
      ['', 'v1', 'resourcequotas', 'ResourceQuota'],
      ['', 'v1', 'limitranges', 'LimitRange'],
      ['', 'v1', 'namespaces', 'Namespace', false],
      ['', 'v1', 'nodes', 'Node', false],
      ['scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', false],
      ['rbac.authorization.k8s.io', 'v1', 'roles', 'Role'],
      ['rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding'],
      ['rbac.authorization.k8s.io', 'v1', 'clusterroles', 'ClusterRole', false],
      ['rbac.authorization.k8s.io', 'v1', 'clusterrolebindings', 'ClusterRoleBinding', false],
    ]),
  },
  {
    title: 'Storage',
    id: 'storage',
    resources: rows([
      ['', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'],
      ['', 'v1', 'persistentvolumes', 'PersistentVolume', false],
      ['storage.k8s.io', 'v1', 'storageclasses', 'StorageClass', false],
    ]),
  },
];

const KNOWN: readonly Resource[] = [
  ...SECTIONS.flatMap(({ resources }) => resources),
  ...rows([
    ['', 'v1', 'events', 'Event'],
    ['apps', 'v1', 'controllerrevisions', 'ControllerRevision'],
    ['apiextensions.k8s.io', 'v1', 'customresourcedefinitions', 'CustomResourceDefinition', false],
  ]),
];

/** Returns the built-in resource of a kind. Throws if it is missing from this file, which is a bug. */
export function builtIn(kind: string): Resource {
  const found = KNOWN.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no built-in resource has the kind ${kind}`);
  return found;
}

/** Returns the resource with this ID (see `resourceId`), or undefined if `all` does not contain it. */
export function resourceOf(id: string, all: readonly Resource[]): Resource | undefined {
  return all.find((one) => resourceId(one) === id);
}

/** Returns the ID of a resource, such as `apps/v1/deployments` or, in the core group, `v1/pods`. */
export const resourceId = ({ group, version, plural }: Resource): string =>
  group === '' ? `${version}/${plural}` : `${group}/${version}/${plural}`;

/** Whether this file contains a resource with the same group and plural name. */
export const isKnown = ({ group, plural }: Resource): boolean =>
  KNOWN.some((one) => one.group === group && one.plural === plural);

/** Returns the path of a collection, an object or a subresource, without a leading slash: it is relative to the page's URL. */
export const pathOf: typeof absolutePathOf = (resource, place) => absolutePathOf(resource, place).slice(1);
