/** The workloads and Services of a node's Kubernetes API, for `stop --delete`. */
import type { KubeObject } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';

/** Collections in deletion order. Owners come first, as they would replace their dependents. */
const COLLECTIONS = [
  ['CronJob', '/apis/batch/v1/cronjobs'],
  ['Job', '/apis/batch/v1/jobs'],
  ['Deployment', '/apis/apps/v1/deployments'],
  ['StatefulSet', '/apis/apps/v1/statefulsets'],
  ['DaemonSet', '/apis/apps/v1/daemonsets'],
  ['ReplicaSet', '/apis/apps/v1/replicasets'],
  ['ReplicationController', '/api/v1/replicationcontrollers'],
  ['Service', '/api/v1/services'],
] as const;

export type FoundObject = { kind: string; namespace: string; name: string; path: string };

/** Returns all workloads and Services, except those created by a controller or by the node itself. */
export async function workloadObjects(client: Pick<NodeClient, 'listObjects'>): Promise<FoundObject[]> {
  const lists = COLLECTIONS.map(async ([kind, path]) =>
    (await client.listObjects(path)).filter((object) => !isMade(object)).map((object) => found(kind, path, object)),
  );
  return (await Promise.all(lists)).flat();
}

function isMade({ metadata: { namespace, name, ownerReferences = [] } }: KubeObject): boolean {
  const isOfNode = namespace === 'kube-system' || (namespace === 'default' && name === 'kubernetes');
  return isOfNode || ownerReferences.some(({ controller }) => controller === true);
}

function found(kind: string, collection: string, { metadata: { namespace = '', name = '' } }: KubeObject): FoundObject {
  const slash = collection.lastIndexOf('/');
  const inNamespace = `${collection.slice(0, slash)}/namespaces/${encodeURIComponent(namespace)}`;
  return { kind, namespace, name, path: `${inNamespace}${collection.slice(slash)}/${encodeURIComponent(name)}` };
}
