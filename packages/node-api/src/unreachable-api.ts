import type { OtherObject } from '@podwright/kube-api';
import type { KubernetesObject } from './kubernetes-api.ts';

const BINDINGS = new Set(['RoleBinding', 'ClusterRoleBinding']);
const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';

/**
 * Returns a warning if the objects grant service accounts permissions on the API but pods cannot reach it, because the node could not claim
 * its Service range: operators and ingress controllers would never work. `find` reads an object by its path.
 */
export async function unreachableApi(
  objects: readonly OtherObject[],
  find: (path: string) => Promise<KubernetesObject | undefined>,
): Promise<string[]> {
  const binding = objects.find(({ kind, subjects }) => BINDINGS.has(kind) && namesAccounts(subjects));
  if (binding === undefined || (await find(SLICE)) !== undefined) return [];
  return [
    `${binding.kind} ${binding.metadata.name} is for pods that use the Kubernetes API, which pods cannot reach: ` +
      'set service_cidr in [api] to a range that neither this host nor another node on it uses, such as "10.112.0.0/16"',
  ];
}

const namesAccounts = (subjects: unknown): boolean =>
  Array.isArray(subjects) && subjects.some((one: { kind?: unknown } | null) => one?.kind === 'ServiceAccount');
