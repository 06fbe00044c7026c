import type { KubeObject, Pod, Resource } from '@podwright/kube-api';
import type { ViewedEvent } from './causes/finding.ts';

/** An object in the chain of an explanation. `namespace` is '' for cluster-scoped objects. */
export type Subject = { kind: string; namespace: string; name: string };

/** Reads the objects, events and logs needed for explanations. Implementations use an API server or a node's Unix socket. */
export type ViewReader = {
  /**
   * Reads an object. Resolves to undefined if the object or its kind does not exist. Rejects with `permission_denied` if the user may not
   * read it.
   */
  get(resource: Resource, namespace: string, name: string): Promise<KubeObject | undefined>;
  /** Lists objects. Resolves to an empty list if the kind does not exist. Rejects with `permission_denied` if the user may not list it. */
  list(resource: Resource, namespace: string): Promise<KubeObject[]>;
  /** Returns the events about an object, oldest first; none if the user may not list them. */
  events(subject: Subject & { uid?: string }): Promise<ViewedEvent[]>;
  /**
   * Returns the last lines of a container's log or, if `previous` is set, of the log of its previous run. Empty if there is no log or it
   * cannot be read.
   */
  log(pod: Pod, container: string, previous: boolean): Promise<string[]>;
};

const resource = (group: string, plural: string, kind: string): Resource => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: kind !== 'Node',
});

/** The kinds read for explanations. */
export const VIEWED = {
  pods: resource('', 'pods', 'Pod'),
  nodes: resource('', 'nodes', 'Node'),
  services: resource('', 'services', 'Service'),
  configMaps: resource('', 'configmaps', 'ConfigMap'),
  claims: resource('', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  replicationControllers: resource('', 'replicationcontrollers', 'ReplicationController'),
  endpointSlices: resource('discovery.k8s.io', 'endpointslices', 'EndpointSlice'),
  deployments: resource('apps', 'deployments', 'Deployment'),
  replicaSets: resource('apps', 'replicasets', 'ReplicaSet'),
  statefulSets: resource('apps', 'statefulsets', 'StatefulSet'),
  daemonSets: resource('apps', 'daemonsets', 'DaemonSet'),
  jobs: resource('batch', 'jobs', 'Job'),
  cronJobs: resource('batch', 'cronjobs', 'CronJob'),
} as const satisfies Record<string, Resource>;

/** Kinds that are read for explanations but cannot be explained themselves. */
const PARTS: ReadonlySet<Resource> = new Set([VIEWED.nodes, VIEWED.configMaps, VIEWED.claims, VIEWED.endpointSlices]);

/** The kinds that can be explained. */
export const EXPLAINED: readonly Resource[] = Object.values(VIEWED).filter((resource) => !PARTS.has(resource));
